#include "nn/scope.h"

#include "lumen/base/check.h"
#include "lumen/frontend/ops.h"

namespace lumen::nn {

Scope Scope::operator/(std::string_view name) const {
  Scope inner = *this;
  inner.path_ = name_of(name);
  return inner;
}

Tensor StoredParameter::values(Tensor rows) const {
  if (blocks) return dequantise(rows, *blocks, dtype);
  return rows.dtype() == dtype ? rows : cast(rows, dtype);
}

StoredParameter Scope::stored(std::string_view name, const Shape& shape) const {
  const std::string path = name_of(name);
  const StorageType type = (storage_ ? storage_(path) : std::nullopt).value_or(dtype_);
  if (const DType* dtype = std::get_if<DType>(&type)) {
    return {graph_->input(path, shape, *dtype, InputKind::weight), {}, dtype_};
  }
  const BlockInfo& block = info(std::get<BlockType>(type));
  std::vector<Expr> dims(shape.begin(), shape.end());
  CHECK(!dims.empty(), "rows are stored in blocks");
  if (!(dims.back() % block.elements == Expr(0))) {
    throw Error(error("parameter \"" + path + "\": rows of " + dims.back().str() + " elements are no whole blocks of " +
                      std::string(block.name)));
  }
  dims.back() = dims.back() / block.elements * block.bytes;
  return {graph_->input(path, Shape(dims), u8, InputKind::weight), block.type, dtype_};
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
