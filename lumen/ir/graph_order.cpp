#include <algorithm>

#include "lumen/ir/graph.h"

namespace lumen {

namespace {

// Where each node stands in an order; kAbsent for those it leaves out.
constexpr uint32_t kAbsent = ~uint32_t{0};
std::vector<uint32_t> positions(const Graph& graph, std::span<const NodeId> order) {
  std::vector<uint32_t> result(graph.size(), kAbsent);
  for (const NodeId& id : order) result[static_cast<size_t>(id)] = static_cast<uint32_t>(&id - order.data());
  return result;
}

// A graph as order() shows it.
struct Ordered {
  explicit Ordered(const Graph& g) : graph(g), order(g.order()), position(positions(g, order)) {}
  uint32_t at(NodeId id) const { return position[static_cast<size_t>(id)]; }
  uint32_t at(std::optional<NodeId> id) const { return id ? at(*id) : kAbsent; }

  const Graph& graph;
  std::vector<NodeId> order;
  std::vector<uint32_t> position;
};

bool same_node(const Ordered& a, const Ordered& b, size_t at) {
  const Node& x = a.graph[a.order[at]];
  const Node& y = b.graph[b.order[at]];
  const auto same_operand = [&](NodeId p, NodeId q) { return a.at(p) == b.at(q); };
  return x.op == y.op && x.type == y.type &&
         std::equal(x.operands.begin(), x.operands.end(), y.operands.begin(), y.operands.end(), same_operand) &&
         x.op->equal(x.fields, y.fields);
}

}  // namespace

std::vector<NodeId> Graph::order() const {
  struct Frame {
    NodeId id;
    size_t next;  // operand to visit
  };
  std::vector<NodeId> result(inputs_.begin(), inputs_.end());
  std::vector<bool> seen(nodes_.size());
  for (const NodeId id : inputs_) seen[static_cast<size_t>(id)] = true;
  std::vector<Frame> path;
  const auto enter = [&](NodeId id) {
    if (seen[static_cast<size_t>(id)]) return;
    seen[static_cast<size_t>(id)] = true;
    path.push_back({id, 0});
  };
  for (const Output& output : outputs_) {
    enter(output.value);
    while (!path.empty()) {
      Frame& top = path.back();
      const Node& node = (*this)[top.id];
      if (top.next < node.operands.size()) {
        enter(node.operands[top.next++]);
      } else {
        result.push_back(top.id);
        path.pop_back();
      }
    }
  }
  return result;
}

uint64_t Graph::hash() const {
  const Ordered ordered(*this);
  Hasher hasher;
  hasher.add(dims_.size()).add(inputs_.size()).add(ordered.order.size()).add(outputs_.size());
  for (const Expr& dim : dims_) hasher.add(dim.hash());
  for (const NodeId id : ordered.order) {
    const Node& node = (*this)[id];
    hasher.add(node.op->hash(node.fields)).add(node.operands.size());
    for (const NodeId operand : node.operands) hasher.add(ordered.at(operand));
  }
  for (const Output& output : outputs_) {
    hasher.add(output.name.hash()).add(ordered.at(output.value)).add(ordered.at(output.alias));
  }
  return hasher.value();
}

bool Graph::equals(const Graph& other) const {
  if (this == &other) return true;
  if (inputs_.size() != other.inputs_.size() || outputs_.size() != other.outputs_.size() || dims_ != other.dims_) {
    return false;
  }
  const Ordered a(*this), b(other);
  if (a.order.size() != b.order.size()) return false;
  for (size_t at = 0; at < a.order.size(); ++at) {
    if (!same_node(a, b, at)) return false;
  }
  return std::equal(outputs_.begin(), outputs_.end(), other.outputs_.begin(), [&](const Output& x, const Output& y) {
    return x.name == y.name && a.at(x.value) == b.at(y.value) && a.at(x.alias) == b.at(y.alias);
  });
}

std::shared_ptr<Graph> clone(const Graph& graph) {
  auto copy = std::make_shared<Graph>();
  for (const Expr& dim : graph.dims()) {
    const auto [lo, hi] = dim.dim_bounds();
    CHECK(copy->add_dim(dim.dim_name(), lo, hi).ok());
  }
  std::vector<NodeId> copied(graph.size());
  const auto at = [&](NodeId id) { return copied[static_cast<size_t>(id)]; };
  for (const NodeId id : graph.order()) {
    const Node& node = graph[id];
    std::vector<NodeId> operands;
    for (const NodeId operand : node.operands) operands.push_back(at(operand));
    copied[static_cast<size_t>(id)] = *copy->add(*node.op, node.fields, operands);
  }
  for (const Output& output : graph.outputs()) {
    std::optional<NodeId> alias;
    if (output.alias) alias = at(*output.alias);
    CHECK(copy->add_output(output.name.str(), at(output.value), alias).ok());
  }
  return copy;
}

}  // namespace lumen
