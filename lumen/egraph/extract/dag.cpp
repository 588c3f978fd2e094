#include "lumen/egraph/extract/dag.h"

#include <algorithm>

#include "lumen/egraph/extract/branch_and_bound.h"
#include "lumen/egraph/extract/local_search.h"
#include "lumen/egraph/extract/tree.h"

namespace lumen::egraph {
namespace {

Selection improve(const Reduced& problem, std::vector<NodeId> start, uint64_t steps) {
  return LocalSearch(problem.graph, problem.roots, std::move(start), steps).run();
}

// On a reduced graph; the selection is of that graph.
Selection solve(const Reduced& problem, const DagOptions& options) {
  Selection best = greedy_dag(problem.graph, problem.roots, options.greedy_steps);
  for (const std::vector<NodeId>& start : {best.choice, tree_extract(problem.graph).choice}) {
    Selection found = improve(problem, start, options.local_steps / 2);
    if (found.cost < best.cost) best = std::move(found);
  }
  if (options.exact_steps == 0) return best;
  return BranchAndBound(problem.graph, problem.roots, options.exact_steps).run(std::move(best));
}

Selection extract_without(const FlatGraph& graph, std::span<const ClassId> roots, const std::vector<bool>& banned,
                          const DagOptions& options) {
  const Reduced problem = reduce(graph, roots, banned);
  if (problem.possible) return problem.expand(graph, solve(problem, options));
  Selection none;
  none.choice.assign(graph.classes(), kNone);
  none.optimal = true;
  return none;
}

// A part of the space of selections, and the best found in it. Parts of one partition have no selection in common.
struct Part {
  std::vector<bool> banned;  // by node
  Selection best;
};

// Splits what is left of a part without its best selection: the i-th piece agrees with that selection on the first i
// classes, counted from the roots, and differs on the next.
std::vector<std::vector<bool>> split_without_best(const FlatGraph& graph, std::span<const ClassId> roots,
                                                  const Part& part) {
  std::vector<std::vector<bool>> pieces;
  std::vector<bool> banned = part.banned;
  const std::vector<ClassId> order = needed_classes(graph, roots, part.best.choice);
  for (auto c = order.rbegin(); c != order.rend(); ++c) {
    const NodeId chosen = part.best.choice[*c];
    bool others = false;
    for (const NodeId n : graph.nodes_of(*c)) others |= n != chosen && !banned[n];
    if (!others) continue;
    pieces.push_back(banned);
    pieces.back()[chosen] = true;
    for (const NodeId n : graph.nodes_of(*c)) banned[n] = n != chosen;
  }
  return pieces;
}

}  // namespace

Selection dag_extract(const FlatGraph& graph, std::span<const ClassId> roots, const DagOptions& options) {
  return extract_without(graph, roots, {}, options);
}

Selection exact_extract(const FlatGraph& graph, std::span<const ClassId> roots, uint64_t steps) {
  DagOptions options;
  options.exact_steps = steps;
  return dag_extract(graph, roots, options);
}

std::vector<Selection> k_best_selections(const FlatGraph& graph, std::span<const ClassId> roots, size_t k,
                                         const DagOptions& options, size_t attempts) {
  std::vector<Part> parts;
  const auto add = [&](std::vector<bool> banned) {
    Part part{std::move(banned), {}};
    part.best = extract_without(graph, roots, part.banned, options);
    if (part.best.cost != kInfinite) parts.push_back(std::move(part));
  };
  add(std::vector<bool>(graph.nodes()));
  std::vector<Selection> result;
  while (result.size() < k && !parts.empty()) {
    const auto cheapest = std::ranges::min_element(parts, {}, [](const Part& p) { return p.best.cost; });
    const Part part = std::move(*cheapest);
    parts.erase(cheapest);
    result.push_back(part.best);
    if (result.size() == k) break;
    for (std::vector<bool>& piece : split_without_best(graph, roots, part)) {
      if (attempts == 0) break;
      --attempts;
      add(std::move(piece));
    }
  }
  // A part may hold something better than what was found when it was split off.
  std::ranges::stable_sort(result, {}, &Selection::cost);
  return result;
}

}  // namespace lumen::egraph
