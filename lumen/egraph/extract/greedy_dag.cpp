#include <algorithm>

#include "lumen/egraph/extract/dag.h"
#include "lumen/egraph/extract/tree.h"

namespace lumen::egraph {
namespace {

// The nodes that computing a class takes, ascending, and what they cost together.
struct NodeSet {
  std::vector<NodeId> nodes;
  Cost cost = kInfinite;
};

class GreedyDag {
 public:
  GreedyDag(const FlatGraph& graph, uint64_t steps)
      : graph_(graph),
        steps_left_(steps),
        sets_(graph.classes()),
        choice_(graph.classes(), kNone),
        stale_(graph.classes(), 1),
        parents_(graph) {}

  // Empty when the steps did not suffice.
  std::vector<NodeId> run() {
    bool changed = true;
    while (changed) {
      changed = false;
      for (ClassId c = 0; c < graph_.classes(); ++c) {
        if (!stale_[c]) continue;
        stale_[c] = 0;
        for (const NodeId n : graph_.nodes_of(c)) changed |= improve(c, n);
        if (steps_left_ == 0) return {};
      }
    }
    return std::move(choice_);
  }

 private:
  bool improve(ClassId c, NodeId n) {
    for (const ClassId child : graph_.children_of(n)) {
      // A set only costs more than those it is made of.
      if (choice_[child] == kNone || sets_[child].cost >= sets_[c].cost) return false;
    }
    unite(n);
    if (!(united_.cost < sets_[c].cost)) return false;
    std::swap(sets_[c], united_);
    choice_[c] = n;
    for (const NodeId parent : parents_.of(c)) stale_[graph_.node_class[parent]] = 1;
    return true;
  }

  void unite(NodeId n) {
    united_.nodes.assign(1, n);
    for (const ClassId child : graph_.children_of(n)) {
      merged_.clear();
      std::ranges::set_union(united_.nodes, sets_[child].nodes, std::back_inserter(merged_));
      std::swap(merged_, united_.nodes);
      steps_left_ -= std::min<uint64_t>(steps_left_, united_.nodes.size());
    }
    united_.cost = 0;
    for (const NodeId m : united_.nodes) united_.cost = add_costs(united_.cost, graph_.cost[m]);
  }

  const FlatGraph& graph_;
  uint64_t steps_left_;
  std::vector<NodeSet> sets_;
  std::vector<NodeId> choice_;
  std::vector<uint8_t> stale_;  // a child's set changed since the class was looked at
  Parents parents_;
  NodeSet united_;
  std::vector<NodeId> merged_;
};

}  // namespace

Selection greedy_dag(const FlatGraph& graph, std::span<const ClassId> roots, uint64_t steps) {
  const Reduced reduced = reduce(graph, roots);
  if (!reduced.possible) return select_needed(graph, roots, std::vector<NodeId>(graph.classes(), kNone));
  std::vector<NodeId> choice = GreedyDag(reduced.graph, steps).run();
  if (choice.empty()) choice = tree_extract(reduced.graph).choice;
  return reduced.expand(graph, select_needed(reduced.graph, reduced.roots, choice));
}

}  // namespace lumen::egraph
