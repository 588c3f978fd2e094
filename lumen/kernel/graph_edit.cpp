#include "lumen/kernel/graph_edit.h"

#include <fmt/format.h>

#include <algorithm>

#include "lumen/ir/scope.h"
#include "lumen/kernel/contract.h"

namespace lumen {

namespace {

class Editor {
 public:
  Editor(const Graph& graph, const GraphEdit& edit) : graph_(graph), edit_(edit), order_(graph.order()) {}

  Expected<std::shared_ptr<const Graph>> run() {
    find_needed();
    LUMEN_TRY(declare_dims());
    for (const NodeId id : order_) {
      if (needed_.contains(id)) LUMEN_TRY(copy(id));
    }
    for (size_t k = 0; k < edit_.outputs.size(); ++k) {
      if (!edit_.kept[k]) continue;
      const Output& output = graph_.outputs()[k];
      std::optional<NodeId> alias;
      const bool moved = edit_.outputs[k] != output.value;
      if (output.alias && !moved && made_.contains(*output.alias)) alias = made_.at(*output.alias);
      LUMEN_TRY(result_->add_output(output.name.str(), made_.at(resolved(edit_.outputs[k])), alias));
    }
    LUMEN_TRY(verify(*result_, llir_stage()));
    return std::shared_ptr<const Graph>(result_);
  }

 private:
  NodeId resolved(NodeId id) const {
    for (auto found = edit_.instead.find(id); found != edit_.instead.end(); found = edit_.instead.find(id)) {
      id = found->second;
    }
    return id;
  }

  void find_needed() {
    for (size_t k = 0; k < edit_.outputs.size(); ++k) {
      if (!edit_.kept[k]) continue;
      needed_.insert(resolved(edit_.outputs[k]));
      const Output& output = graph_.outputs()[k];
      if (output.alias && edit_.outputs[k] == output.value) needed_.insert(*output.alias);
    }
    for (auto id = order_.rbegin(); id != order_.rend(); ++id) {
      if (!needed_.contains(*id) || edit_.become_inputs.contains(*id)) continue;
      for (const NodeId operand : graph_[*id].operands) needed_.insert(resolved(operand));
    }
  }

  Expected<void> declare_dims() {
    std::vector<Expr> dims;
    for (const NodeId id : needed_) {
      collect_dims(graph_[id].type.shape, dims);
      if (!edit_.become_inputs.contains(id)) collect_dims(*graph_[id].op, graph_[id].fields, dims);
    }
    for (const Expr& dim : dims) {
      const auto [lo, hi] = dim.dim_bounds();
      LUMEN_TRY(result_->add_dim(dim.dim_name(), lo, hi));
    }
    return {};
  }

  Expected<void> copy(NodeId id) {
    const Node& node = graph_[id];
    if (node.is<Input>()) {
      made_[id] = LUMEN_TRY(result_->add_input(node.as<Input>()));
    } else if (edit_.become_inputs.contains(id)) {
      made_[id] = LUMEN_TRY(result_->add_input({free_name(), InputKind::data, node.type.dtype, node.type.shape}));
    } else {
      std::vector<NodeId> operands;
      for (const NodeId operand : node.operands) operands.push_back(made_.at(resolved(operand)));
      made_[id] = LUMEN_TRY(result_->add(*node.op, node.fields, operands));
    }
    return {};
  }

  std::string free_name() {
    std::string name;
    do {
      name = fmt::format("v{}", next_name_++);
    } while (graph_.find_input(name));
    return name;
  }

  const Graph& graph_;
  const GraphEdit& edit_;
  const std::vector<NodeId> order_;
  std::set<NodeId> needed_;
  std::map<NodeId, NodeId> made_;
  std::shared_ptr<Graph> result_ = std::make_shared<Graph>();
  int next_name_ = 0;
};

}  // namespace

GraphEdit::GraphEdit(const Graph& graph) : kept(graph.outputs().size(), true) {
  for (const Output& output : graph.outputs()) outputs.push_back(output.value);
}

std::shared_ptr<const Graph> edited(const Graph& graph, const GraphEdit& edit) {
  Expected<std::shared_ptr<const Graph>> result = Editor(graph, edit).run();
  return result.ok() ? *result : nullptr;
}

}  // namespace lumen
