#include <algorithm>
#include <map>
#include <set>

#include "lumen/hlir/leaves.h"
#include "lumen/hlir/view.h"
#include "lumen/search/fusion_guide.h"

namespace lumen::search {

namespace {

// What a value is a view of.
NodeId viewed(const Graph& graph, NodeId id) {
  while (graph[id].is<hlir::View>()) id = graph[id].operands[0];
  return id;
}

// One op of a pattern after the other, from the result to its operands.
class Matcher {
 public:
  Matcher(const Graph& pattern, const Graph& graph, const Group& group)
      : pattern_(pattern), graph_(graph), inside_(group.begin(), group.end()) {}

  bool match(NodeId wanted, NodeId found) {
    wanted = viewed(pattern_, wanted);
    found = viewed(graph_, found);
    const auto known = bound_.find(wanted);
    if (known != bound_.end()) return known->second == found;
    const Bound before = bound_;
    bound_[wanted] = found;
    if (fits(wanted, found)) return true;
    bound_ = before;
    return false;
  }

  // Of the graph, what ops of the pattern were found as.
  std::set<NodeId> found() const {
    std::set<NodeId> nodes;
    for (const auto& [wanted, node] : bound_) {
      if (!pattern_[wanted].is<Input>()) nodes.insert(node);
    }
    return nodes;
  }

 private:
  using Bound = std::map<NodeId, NodeId>;

  bool fits(NodeId wanted, NodeId found) {
    const Node& want = pattern_[wanted];
    const Node& have = graph_[found];
    if (want.type.dtype != have.type.dtype) return false;
    if (want.is<Input>()) return !inside_.contains(found) && !have.is<hlir::Constant>();
    if (want.op != have.op || want.operands.size() != have.operands.size()) return false;
    return fit_operands(want, have, false) || (want.operands.size() == 2 && fit_operands(want, have, true));
  }

  bool fit_operands(const Node& want, const Node& have, bool swapped) {
    const Bound before = bound_;
    const size_t count = want.operands.size();
    for (size_t k = 0; k < count; ++k) {
      if (match(want.operands[k], have.operands[swapped ? count - 1 - k : k])) continue;
      bound_ = before;
      return false;
    }
    return true;
  }

  const Graph& pattern_;
  const Graph& graph_;
  std::set<NodeId> inside_;
  Bound bound_;  // by node of the pattern
};

}  // namespace

bool is_pattern(const Reads& reads, const Group& group, const Graph& pattern) {
  const Reads own(pattern);
  const auto computing = std::ranges::count_if(own.order(), [&](NodeId id) { return own.computes(id); });
  if (static_cast<size_t>(computing) != group.size()) return false;
  const NodeId root = viewed(pattern, pattern.outputs().back().value);
  for (const NodeId id : group) {
    Matcher matcher(pattern, reads.graph(), group);
    if (!matcher.match(root, id)) continue;
    const std::set<NodeId> found = matcher.found();
    if (std::ranges::all_of(group, [&](NodeId each) { return found.contains(each); })) return true;
  }
  return false;
}

}  // namespace lumen::search
