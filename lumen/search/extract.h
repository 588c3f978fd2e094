// From a saturated e-graph back to graphs: the cheapest, or some at random.
#pragma once

#include <memory>
#include <vector>

#include "lumen/ir/graph.h"
#include "lumen/search/cost.h"
#include "lumen/search/saturate.h"

namespace lumen {

struct Candidate {
  std::shared_ptr<Graph> graph;  // of llir_stage(), with the inputs, outputs and dims of the graph that was saturated
  double cost;                   // of its ops, each once
};

// How hard to look: the steps of a local search, and the branches of an exact one after it.
struct ExtractEffort {
  uint64_t local_steps = 20'000'000;
  uint64_t exact_steps = 10'000;
};

// At most k different graphs, the cheapest first; the same for the same e-graph. `k` is at least 1.
Expected<std::vector<Candidate>> extract_best(Saturated& saturated, size_t k, const OpCost& cost,
                                              const ExtractEffort& effort = {});

// Some graph of those that the e-graph holds, by the seed.
Expected<std::shared_ptr<Graph>> extract_random(Saturated& saturated, uint64_t seed);

}  // namespace lumen
