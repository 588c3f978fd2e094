#include "lumen/egraph/extract/selection.h"

#include <algorithm>

#include "lumen/egraph/extract/tree.h"

namespace lumen::egraph {

std::vector<ClassId> needed_classes(const FlatGraph& graph, std::span<const ClassId> roots,
                                    std::span<const NodeId> choice) {
  enum : uint8_t { kUnseen, kOpen, kDone };
  std::vector<uint8_t> state(graph.classes(), kUnseen);
  std::vector<ClassId> order;
  struct Frame {
    ClassId c;
    uint32_t next;
  };
  std::vector<Frame> stack;
  for (const ClassId root : roots) {
    if (state[root] == kUnseen) stack.push_back({root, 0});
    while (!stack.empty()) {
      Frame& top = stack.back();
      if (choice[top.c] == kNone) return {};
      state[top.c] = kOpen;
      const auto children = graph.children_of(choice[top.c]);
      while (top.next < children.size() && state[children[top.next]] == kDone) ++top.next;
      if (top.next == children.size()) {
        state[top.c] = kDone;
        order.push_back(top.c);
        stack.pop_back();
        continue;
      }
      const ClassId child = children[top.next];
      if (state[child] == kOpen) return {};
      stack.push_back({child, 0});
    }
  }
  return order;
}

Selection select_needed(const FlatGraph& graph, std::span<const ClassId> roots, std::span<const NodeId> choice) {
  Selection result;
  result.choice.assign(graph.classes(), kNone);
  const std::vector<ClassId> needed = needed_classes(graph, roots, choice);
  if (needed.empty() && !roots.empty()) return result;
  result.cost = 0;
  for (const ClassId c : needed) {
    result.choice[c] = choice[c];
    result.cost = add_costs(result.cost, graph.cost[choice[c]]);
  }
  return result;
}

Selection Reduced::expand(const FlatGraph& original, const Selection& selection) const {
  Selection result;
  result.choice.assign(original.classes(), kNone);
  result.cost = selection.cost;
  result.optimal = selection.optimal;
  for (ClassId c = 0; c < selection.choice.size(); ++c) {
    if (selection.choice[c] != kNone) result.choice[original_class[c]] = original_node[selection.choice[c]];
  }
  return result;
}

namespace {

// What has a finite term when the banned nodes are left out.
std::vector<uint8_t> extractable_classes(const FlatGraph& graph, const std::vector<bool>& banned) {
  TreeOptions options;
  if (!banned.empty()) {
    options.cost = [&](const FlatGraph& g, NodeId n, std::span<const Cost> child_costs) {
      if (banned[n]) return kInfinite;
      Cost sum = g.cost[n];
      for (const Cost c : child_costs) sum = add_costs(sum, c);
      return sum;
    };
  }
  const TreeExtraction tree = tree_extract(graph, options);
  std::vector<uint8_t> result(graph.classes());
  for (ClassId c = 0; c < graph.classes(); ++c) result[c] = tree.choice[c] != kNone;
  return result;
}

class Reducer {
 public:
  Reducer(const FlatGraph& graph, const std::vector<bool>& banned)
      : graph_(graph),
        banned_(banned),
        extractable_(extractable_classes(graph, banned)),
        new_class_(graph.classes(), kNone) {}

  Reduced run(std::span<const ClassId> roots) {
    result_.possible = std::ranges::all_of(roots, [&](ClassId root) { return extractable_[root] != 0; });
    if (!result_.possible) return std::move(result_);
    number_reachable(roots);
    for (const ClassId root : roots) {
      const ClassId c = new_class_[root];
      if (std::ranges::find(result_.roots, c) == result_.roots.end()) result_.roots.push_back(c);
    }
    for (ClassId c = 0; c < result_.original_class.size(); ++c) add_nodes(c);
    result_.graph.finish();
    return std::move(result_);
  }

 private:
  // In the order of the whole graph, so that greedy extraction takes the same course.
  void number_reachable(std::span<const ClassId> roots) {
    std::vector<uint8_t> seen(graph_.classes(), 0);
    std::vector<ClassId> stack(roots.begin(), roots.end());
    while (!stack.empty()) {
      const ClassId c = stack.back();
      stack.pop_back();
      if (seen[c]) continue;
      seen[c] = 1;
      for (const NodeId n : graph_.nodes_of(c)) {
        if (!usable(n, c)) continue;
        for (const ClassId child : graph_.children_of(n)) {
          if (!seen[child]) stack.push_back(child);
        }
      }
    }
    for (ClassId c = 0; c < graph_.classes(); ++c) {
      if (!seen[c]) continue;
      new_class_[c] = result_.graph.add_class();
      result_.original_class.push_back(c);
    }
  }

  bool usable(NodeId n, ClassId owner) const {
    if (graph_.cost[n] == kInfinite || (!banned_.empty() && banned_[n])) return false;
    return std::ranges::all_of(graph_.children_of(n), [&](ClassId c) { return c != owner && extractable_[c]; });
  }

  void add_nodes(ClassId c) {
    const ClassId owner = result_.original_class[c];
    std::vector<ClassId> children;
    for (const NodeId n : graph_.nodes_of(owner)) {
      if (!usable(n, owner)) continue;
      children.clear();
      for (const ClassId child : graph_.children_of(n)) {
        if (std::ranges::find(children, new_class_[child]) == children.end()) children.push_back(new_class_[child]);
      }
      result_.graph.add_node(c, children, graph_.cost[n]);
      result_.original_node.push_back(n);
    }
  }

  const FlatGraph& graph_;
  const std::vector<bool>& banned_;
  std::vector<uint8_t> extractable_;
  std::vector<ClassId> new_class_;
  Reduced result_;
};

}  // namespace

Reduced reduce(const FlatGraph& graph, std::span<const ClassId> roots, const std::vector<bool>& banned) {
  return Reducer(graph, banned).run(roots);
}

}  // namespace lumen::egraph
