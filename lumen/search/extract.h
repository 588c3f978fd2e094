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

// At most k different graphs, the cheapest first; the same for the same e-graph. `k` is at least 1.
Expected<std::vector<Candidate>> extract_best(Saturated& saturated, size_t k, const OpCost& cost);

// Some graph of those that the e-graph holds, by the seed.
Expected<std::shared_ptr<Graph>> extract_random(Saturated& saturated, uint64_t seed);

}  // namespace lumen
