// Extraction by DAG cost: every chosen node is paid once, however often it is used. Finding the best is NP-hard; what
// is here is never worse than greedy_dag.
#pragma once

#include <cstdint>
#include <span>

#include "lumen/egraph/extract/selection.h"

namespace lumen::egraph {

struct DagOptions {
  // Bounds the work, in visits of nodes; the result is the same on every machine. The best selection so far is
  // returned.
  uint64_t greedy_steps = 200'000'000;
  uint64_t local_steps = 20'000'000;
  uint64_t exact_steps = 10'000;  // branches of the search that exact_extract makes, for graphs of up to 5000 classes
};

// Classes take the node whose own set of needed nodes costs least, until nothing improves; nothing is taken back.
Selection greedy_dag(const FlatGraph& graph, std::span<const ClassId> roots, uint64_t steps = 200'000'000);

// Starts from the tree and the greedy extraction, and improves both by changing single choices and, where that does not
// help, by changing one for the worse and improving again.
Selection dag_extract(const FlatGraph& graph, std::span<const ClassId> roots, const DagOptions& options = {});

// Branch and bound from dag_extract's result. `steps` bounds the branches taken: `optimal` says whether they sufficed.
Selection exact_extract(const FlatGraph& graph, std::span<const ClassId> roots, uint64_t steps = 1'000'000);

// At most k different selections, cheapest first, the first being dag_extract's. Each of the others is the best found
// in a part of the space that excludes those before it. `attempts` bounds the extractions made for it.
std::vector<Selection> k_best_selections(const FlatGraph& graph, std::span<const ClassId> roots, size_t k,
                                         const DagOptions& options = {}, size_t attempts = 2000);

}  // namespace lumen::egraph
