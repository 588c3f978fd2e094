#include "lumen/kernel/carve.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "lumen/ir/scope.h"

namespace lumen {

namespace {

constexpr uint32_t kNone = ~uint32_t{0};

class Carver {
 public:
  Carver(const Graph& graph, std::span<const NodeId> part)
      : graph_(graph), inside_(graph.size()), copied_(graph.size()) {
    for (const NodeId id : part) inside_[at(id)] = !graph[id].is<Input>();
  }

  Carved run(std::span<const NodeId> results) {
    for (const NodeId id : results) {
      CHECK(inside_[at(id)], "a result outside its part");
      visit(id);
    }
    declare_dims();
    for (size_t k = 0; k < operands_.size(); ++k) {
      const TensorType type = graph_[operands_[k]].type;
      copied_[at(operands_[k])] =
          body_->add_input({fmt::format("a{}", k), InputKind::data, type.dtype, type.shape}).value();
    }
    for (const NodeId id : order_) copy(id);
    for (size_t k = 0; k < results.size(); ++k) {
      CHECK(body_->add_output(fmt::format("r{}", k), *copied_[at(results[k])]).ok());
    }
    std::vector<NodeId> nodes = operands_;
    nodes.insert(nodes.end(), order_.begin(), order_.end());
    CHECK(nodes.size() == body_->size(), "two nodes of a graph became one");
    return {body_, operands_, {results.begin(), results.end()}, std::move(nodes)};
  }

 private:
  // Operands first; inputs in the order in which they are met. Without recursion: graphs may be deep.
  void visit(NodeId root) {
    std::vector<std::pair<NodeId, size_t>> path;
    const auto enter = [&](NodeId id) {
      if (!seen_.insert(id).second) return;
      if (inside_[at(id)]) {
        path.emplace_back(id, 0);
      } else {
        operands_.push_back(id);
      }
    };
    enter(root);
    while (!path.empty()) {
      auto& [id, next] = path.back();
      const Node& node = graph_[id];
      if (next < node.operands.size()) {
        enter(node.operands[next++]);
      } else {
        order_.push_back(id);
        path.pop_back();
      }
    }
  }

  void declare_dims() {
    std::vector<Expr> dims;
    for (const NodeId id : operands_) collect_dims(graph_[id].type.shape, dims);
    for (const NodeId id : order_) {
      collect_dims(*graph_[id].op, graph_[id].fields, dims);
      collect_dims(graph_[id].type.shape, dims);
    }
    for (const Expr& dim : dims) {
      const auto [lo, hi] = dim.dim_bounds();
      CHECK(body_->add_dim(dim.dim_name(), lo, hi).ok());
    }
  }

  void copy(NodeId id) {
    const Node& node = graph_[id];
    std::vector<NodeId> operands;
    for (const NodeId operand : node.operands) operands.push_back(*copied_[at(operand)]);
    copied_[at(id)] = body_->add(*node.op, node.fields, operands).value();
  }

  const Graph& graph_;
  std::vector<bool> inside_;
  std::set<NodeId> seen_;
  std::vector<NodeId> operands_;
  std::vector<NodeId> order_;
  std::vector<std::optional<NodeId>> copied_;
  std::shared_ptr<Graph> body_ = std::make_shared<Graph>();
};

// Which part gives a node to the others.
class Owners {
 public:
  Owners(const Graph& graph, std::span<const std::vector<NodeId>> parts) : graph_(graph), owner_(graph.size(), kNone) {
    for (size_t p = parts.size(); p-- > 0;) {
      for (const NodeId id : parts[p]) owner_[at(id)] = static_cast<uint32_t>(p);
    }
  }
  // kNone for inputs, which nobody needs to give.
  Expected<uint32_t> of(NodeId id) const {
    const Node& node = graph_[id];
    if (node.is<Input>()) return kNone;
    if (owner_[at(id)] == kNone) {
      return error(fmt::format("a value that is needed is in no part: {} of type {}", node.op->name, node.type.str()));
    }
    return owner_[at(id)];
  }

 private:
  const Graph& graph_;
  std::vector<uint32_t> owner_;
};

// The parts in an order in which each comes after those it needs; the earliest possible ones first.
Expected<std::vector<size_t>> arrange(std::span<const std::set<uint32_t>> needs) {
  std::vector<size_t> order;
  std::vector<bool> done(needs.size());
  while (order.size() < needs.size()) {
    const size_t before = order.size();
    for (size_t p = 0; p < needs.size(); ++p) {
      if (done[p] || !std::all_of(needs[p].begin(), needs[p].end(), [&](uint32_t n) { return bool{done[n]}; }))
        continue;
      order.push_back(p);
      done[p] = true;
    }
    if (order.size() > before) continue;
    const size_t stuck = static_cast<size_t>(std::find(done.begin(), done.end(), false) - done.begin());
    return error(
        fmt::format("part {} of {} needs itself: the parts depend on each other in a circle", stuck, needs.size()));
  }
  return order;
}

}  // namespace

Carved carve(const Graph& graph, std::span<const NodeId> part, std::span<const NodeId> results) {
  return Carver(graph, part).run(results);
}

Expected<std::vector<Carved>> carve_all(const Graph& graph, std::span<const std::vector<NodeId>> parts) {
  const Owners owners(graph, parts);
  std::vector<std::set<uint32_t>> needs(parts.size());
  std::vector<std::set<NodeId>> results(parts.size());
  for (size_t p = 0; p < parts.size(); ++p) {
    const std::set<NodeId> inside(parts[p].begin(), parts[p].end());
    for (const NodeId id : parts[p]) {
      for (const NodeId operand : graph[id].operands) {
        if (inside.contains(operand)) continue;
        const uint32_t owner = LUMEN_TRY(owners.of(operand));
        if (owner == kNone) continue;
        needs[p].insert(owner);
        results[owner].insert(operand);
      }
    }
  }
  for (const Output& output : graph.outputs()) {
    const uint32_t owner = LUMEN_TRY(owners.of(output.value));
    if (owner != kNone) results[owner].insert(output.value);
  }
  std::vector<size_t> position(graph.size());  // results are listed by structure, not by when they were built
  const std::vector<NodeId> order = graph.order();
  for (size_t k = 0; k < order.size(); ++k) position[at(order[k])] = k;
  std::vector<Carved> kernels;
  for (const size_t p : LUMEN_TRY(arrange(needs))) {
    if (results[p].empty()) continue;
    std::vector<NodeId> list(results[p].begin(), results[p].end());
    std::sort(list.begin(), list.end(), [&](NodeId a, NodeId b) { return position[at(a)] < position[at(b)]; });
    kernels.push_back(carve(graph, parts[p], list));
  }
  return kernels;
}

}  // namespace lumen
