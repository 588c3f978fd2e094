#include "lumen/egraph/extract/flat_graph.h"

#include <cmath>

#include "lumen/base/check.h"

namespace lumen::egraph {

NodeId FlatGraph::add_node(ClassId owner, std::span<const ClassId> node_children, Cost node_cost) {
  CHECK(owner < class_count_);
  const NodeId id = static_cast<NodeId>(cost.size());
  node_class.push_back(owner);
  children.insert(children.end(), node_children.begin(), node_children.end());
  child_start.push_back(static_cast<uint32_t>(children.size()));
  if (std::isnan(node_cost)) node_cost = kInfinite;
  cost.push_back(add_costs(node_cost < 0 ? 0 : node_cost, 0));
  return id;
}

void FlatGraph::finish() {
  class_start.assign(class_count_ + 1, 0);
  for (const ClassId c : node_class) ++class_start[c + 1];
  for (size_t c = 0; c < class_count_; ++c) class_start[c + 1] += class_start[c];
  members.resize(nodes());
  std::vector<uint32_t> next(class_start.begin(), class_start.end() - 1);
  for (NodeId n = 0; n < nodes(); ++n) members[next[node_class[n]]++] = n;
}

Parents::Parents(const FlatGraph& graph) : start_(graph.classes() + 1, 0), nodes_(graph.children.size()) {
  for (const ClassId c : graph.children) ++start_[c + 1];
  for (size_t c = 0; c < graph.classes(); ++c) start_[c + 1] += start_[c];
  std::vector<uint32_t> next(start_.begin(), start_.end() - 1);
  for (NodeId n = 0; n < graph.nodes(); ++n) {
    for (const ClassId c : graph.children_of(n)) nodes_[next[c]++] = n;
  }
}

}  // namespace lumen::egraph
