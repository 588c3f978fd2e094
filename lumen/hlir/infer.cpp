#include "lumen/hlir/infer.h"

#include <fmt/format.h>

#include "lumen/ir/expr_parts.h"

namespace lumen::hlir {

namespace {

std::string_view describe(DTypeClasses classes) {
  if (classes.floating) return classes.integer ? "a float or integer" : "a float";
  return classes.integer ? (classes.boolean ? "an integer or bool" : "an integer") : "a bool";
}

}  // namespace

Diag op_error(std::string_view op, std::string_view text) { return error(fmt::format("[{}] {}", op, text)); }

Expected<void> check_dtype(std::string_view op, DTypeClasses admitted, const TensorType& given) {
  if (admitted.admits(given.dtype)) return {};
  return op_error(op, fmt::format("needs {} operand, got {}", describe(admitted), given.str()));
}

Expected<void> check_same(std::string_view op, const TensorType& a, const TensorType& b) {
  if (a == b) return {};
  return op_error(op, fmt::format("operands differ: {} and {}", a.str(), b.str()));
}

Expected<void> check_axis(std::string_view op, int64_t axis, const TensorType& given) {
  if (axis >= 0 && axis < given.shape.rank()) return {};
  return op_error(op, fmt::format("axis {} out of range for {}", axis, given.str()));
}

Expected<void> check_not_empty(std::string_view op, int64_t axis, const TensorType& given) {
  if (given.shape[axis] != Expr(0)) return {};
  return op_error(op, fmt::format("axis {} of {} is empty", axis, given.str()));
}

Expected<void> check_shape(std::string_view op, const Shape& shape) {
  for (const Expr dim : shape) {
    if (dim.constant().value_or(0) < 0 || has_index(dim) || dim.kind() == ExprKind::undefined) {
      return op_error(op, fmt::format("{} is no size of a dim, in shape {}", dim.str(), shape.str()));
    }
  }
  return {};
}

Expected<void> check_coordinates(std::string_view op, std::string_view what, Expr e, const Shape& shape) {
  for (const Expr variable : variables(e)) {
    if (variable.kind() != ExprKind::index) continue;
    const int k = variable.index_number();
    if (k < shape.rank() && variable.index_extent() == shape[k]) continue;
    return op_error(op, fmt::format("{} {} uses coordinate i{} < {}, which shape {} does not have", what, e.str(), k,
                                    variable.index_extent().str(), shape.str()));
  }
  return {};
}

TensorType drop_axis(const TensorType& type, int64_t axis) {
  std::vector<Expr> dims(type.shape.begin(), type.shape.end());
  dims.erase(dims.begin() + axis);
  return {type.dtype, Shape(dims)};
}

}  // namespace lumen::hlir
