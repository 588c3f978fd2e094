// From a saturated e-graph back to graphs: the cheapest, or some at random.
#pragma once

#include <memory>
#include <vector>

#include "lumen/egraph/extract/flatten.h"
#include "lumen/ir/graph.h"
#include "lumen/search/cost.h"
#include "lumen/search/saturate.h"

namespace lumen {

struct Candidate {
  std::shared_ptr<Graph> graph;  // of llir_stage(), with the inputs, outputs and dims of the graph that was saturated
  double cost;                   // of its ops, each once
  std::vector<egraph::ClassId> classes = {};  // by node of the graph: the class that it was taken from (classes.h)
};

// How hard to look: the steps of a local search, and the branches of an exact one after it.
struct ExtractEffort {
  uint64_t local_steps = 20'000'000;
  uint64_t exact_steps = 10'000;
};

// The terms that programs are taken from, at what they cost; the same classes for any cost.
// A view, or a contraction, of what is a view itself costs far too much, so that no program that can do without it is a
// candidate; own_cost is what it would cost otherwise, and is_avoided says whether it is one.
egraph::Flattened flatten_by(Saturated& saturated, const OpCost& cost);
double own_cost(double cost);
bool is_avoided(double cost);

// At most k different graphs, the cheapest first; the same for the same e-graph. `k` is at least 1.
Expected<std::vector<Candidate>> extract_best(Saturated& saturated, size_t k, const OpCost& cost,
                                              const ExtractEffort& effort = {});

// Some graph of those that the e-graph holds, by the seed.
Expected<std::shared_ptr<Graph>> extract_random(Saturated& saturated, uint64_t seed);

}  // namespace lumen
