#include "lumen/search/group.h"

#include <algorithm>
#include <set>

#include "lumen/base/check.h"
#include "lumen/hlir/leaves.h"
#include "lumen/hlir/loop.h"
#include "lumen/hlir/view.h"

namespace lumen::search {

namespace {

constexpr size_t kNone = ~size_t{0};

size_t at(NodeId id) { return static_cast<size_t>(id); }

class Grouper {
 public:
  Grouper(const Graph& graph, const Accepts& merge) : graph_(graph), merge_(merge), order_(graph.order()) {
    group_of_.assign(graph.size(), kNone);
    position_.assign(graph.size(), 0);
    readers_.resize(graph.size());
    is_output_.assign(graph.size(), false);
    for (size_t k = 0; k < order_.size(); ++k) position_[at(order_[k])] = k;
    for (const Output& output : graph.outputs()) is_output_[at(output.value)] = true;
    for (const NodeId id : order_) {
      const Node& node = graph[id];
      if (node.is<Input>() || is_free(node)) continue;
      group_of_[at(id)] = groups_.size();
      groups_.push_back({id});
    }
    for (const NodeId id : order_) {
      if (group_of_[at(id)] == kNone) continue;
      for (const NodeId source : sources_of(id)) readers_[at(source)].push_back(id);
    }
    merge_loops();
  }

  // Until no two groups that feed each other can be merged.
  void merge_all() {
    for (bool changed = true; changed;) {
      changed = false;
      for (const NodeId id : order_) {
        if (group_of_[at(id)] == kNone) continue;
        for (const NodeId source : sources_of(id)) changed = try_merge(source, id) || changed;
      }
    }
  }

  std::vector<std::vector<NodeId>> parts() const {
    std::vector<std::vector<NodeId>> parts;
    for (const Output& output : graph_.outputs()) {
      const Node& node = graph_[output.value];
      if (!node.is<Input>() && is_free(node)) parts.push_back(with_free({output.value}));
    }
    for (const std::vector<NodeId>& group : groups_) {
      if (!group.empty()) parts.push_back(with_free(group));
    }
    return parts;
  }

 private:
  // The nodes that compute what this one reads, behind whatever is free.
  std::vector<NodeId> sources_of(NodeId id) const {
    std::vector<NodeId> sources;
    std::vector<NodeId> open(graph_[id].operands.begin(), graph_[id].operands.end());
    while (!open.empty()) {
      const NodeId next = open.back();
      open.pop_back();
      if (group_of_[at(next)] != kNone) {
        if (std::find(sources.begin(), sources.end(), next) == sources.end()) sources.push_back(next);
      } else {
        open.insert(open.end(), graph_[next].operands.begin(), graph_[next].operands.end());
      }
    }
    // The latest first: what was just computed is what one would rather not store.
    std::sort(sources.begin(), sources.end(), [&](NodeId a, NodeId b) { return position_[at(a)] > position_[at(b)]; });
    return sources;
  }

  // Loops that differ in their result only run once.
  void merge_loops() {
    std::vector<NodeId> loops;
    for (const NodeId id : order_) {
      if (!graph_[id].is<hlir::Loop>()) continue;
      const auto same = std::find_if(loops.begin(), loops.end(), [&](NodeId other) { return is_same_loop(id, other); });
      if (same == loops.end()) {
        loops.push_back(id);
      } else {
        absorb(group_of_[at(*same)], group_of_[at(id)]);
      }
    }
  }

  bool is_same_loop(NodeId a, NodeId b) const {
    hlir::Loop left = graph_[a].as<hlir::Loop>();
    left.result = graph_[b].as<hlir::Loop>().result;
    return std::ranges::equal(graph_[a].operands, graph_[b].operands) &&
           op_def<hlir::Loop>().equal(&left, graph_[b].fields);
  }

  bool try_merge(NodeId source, NodeId reader) {
    const size_t from = group_of_[at(source)];
    const size_t into = group_of_[at(reader)];
    if (from == into || !asked_.insert({std::min(from, into), std::max(from, into)}).second) return false;
    if (depends_indirectly(into, from)) {
      asked_.erase({std::min(from, into), std::max(from, into)});
      return false;
    }
    std::vector<NodeId> both = groups_[from];
    both.insert(both.end(), groups_[into].begin(), groups_[into].end());
    sort(both);
    if (!merge_(with_free(both), results_of(both))) return false;
    absorb(from, into);
    return true;
  }

  void absorb(size_t into, size_t from) {
    for (const NodeId id : groups_[from]) group_of_[at(id)] = into;
    groups_[into].insert(groups_[into].end(), groups_[from].begin(), groups_[from].end());
    groups_[from].clear();
    sort(groups_[into]);
    // A changed group may be merged where it could not be before.
    std::erase_if(asked_, [&](const auto& pair) { return pair.first == into || pair.second == into; });
  }

  void sort(std::vector<NodeId>& nodes) const {
    std::sort(nodes.begin(), nodes.end(), [&](NodeId a, NodeId b) { return position_[at(a)] < position_[at(b)]; });
  }

  // Whether `group` needs `target` by way of a third group: then they cannot be one.
  bool depends_indirectly(size_t group, size_t target) const {
    const size_t floor = position_[at(groups_[target].front())];  // nothing before it can need it
    std::set<size_t> seen;
    std::vector<size_t> open;
    const auto enter = [&](size_t next) {
      if (next != group && next != target && seen.insert(next).second) open.push_back(next);
    };
    for (const NodeId id : groups_[group]) {
      for (const NodeId source : sources_of(id)) enter(group_of_[at(source)]);
    }
    while (!open.empty()) {
      const size_t next = open.back();
      open.pop_back();
      if (position_[at(groups_[next].back())] < floor) continue;
      for (const NodeId id : groups_[next]) {
        for (const NodeId source : sources_of(id)) {
          if (group_of_[at(source)] == target) return true;
          enter(group_of_[at(source)]);
        }
      }
    }
    return false;
  }

  std::vector<NodeId> with_free(const std::vector<NodeId>& group) const {
    std::set<NodeId> inside(group.begin(), group.end());
    std::vector<NodeId> open = group;
    while (!open.empty()) {
      const NodeId id = open.back();
      open.pop_back();
      for (const NodeId operand : graph_[id].operands) {
        const Node& node = graph_[operand];
        if (!node.is<Input>() && is_free(node) && inside.insert(operand).second) open.push_back(operand);
      }
    }
    std::vector<NodeId> all(inside.begin(), inside.end());
    sort(all);
    return all;
  }

  std::vector<NodeId> results_of(const std::vector<NodeId>& group) const {
    const std::set<NodeId> inside(group.begin(), group.end());
    std::vector<NodeId> results;
    for (const NodeId id : group) {
      const bool read = std::any_of(readers_[at(id)].begin(), readers_[at(id)].end(),
                                    [&](NodeId reader) { return !inside.contains(reader); });
      if (read || is_output_[at(id)] || feeds_free_output(id)) results.push_back(id);
    }
    return results;
  }

  bool feeds_free_output(NodeId id) const {
    for (const Output& output : graph_.outputs()) {
      if (group_of_[at(output.value)] != kNone || graph_[output.value].is<Input>()) continue;
      const std::vector<NodeId> sources = sources_of(output.value);
      if (std::find(sources.begin(), sources.end(), id) != sources.end()) return true;
    }
    return false;
  }

  const Graph& graph_;
  const Accepts& merge_;
  const std::vector<NodeId> order_;
  std::vector<size_t> position_;               // by node: in order_
  std::vector<size_t> group_of_;               // by node; kNone for inputs and what is free
  std::vector<std::vector<NodeId>> readers_;   // by node: what computes with it
  std::vector<bool> is_output_;                // by node
  std::vector<std::vector<NodeId>> groups_;    // in order; empty when merged into another
  std::set<std::pair<size_t, size_t>> asked_;  // pairs that were refused, and have not changed
};

}  // namespace

bool is_free(const Node& node) { return node.is<hlir::View>() || node.is<hlir::Constant>() || node.is<hlir::Iota>(); }

std::vector<std::vector<NodeId>> group(const Graph& graph, const Accepts& merge) {
  Grouper grouper(graph, merge);
  grouper.merge_all();
  return grouper.parts();
}

}  // namespace lumen::search
