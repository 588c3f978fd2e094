#include "nn/scope.h"

namespace lumen::nn {

Scope Scope::operator/(std::string_view name) const {
  Scope inner = *this;
  inner.path_ = name_of(name);
  return inner;
}

Tensor Scope::parameter(std::string_view name, const Shape& shape, DType dtype) const {
  return graph_->input(name_of(name), shape, dtype, InputKind::weight);
}

Tensor Scope::state(std::string_view name, const Shape& shape) const {
  return graph_->input(name_of(name), shape, dtype_, InputKind::state);
}

std::vector<Parameter> parameters(const Graph& graph) {
  std::vector<Parameter> found;
  for (const NodeId id : graph.inputs()) {
    const Input& input = graph[id].as<Input>();
    if (input.kind == InputKind::weight) found.push_back({std::string(input.name.str()), graph[id].type});
  }
  return found;
}

}  // namespace lumen::nn
