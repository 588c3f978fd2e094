// What the ops' infer functions share. Every message starts with "[op] " and names what was given.
#pragma once

#include <span>
#include <string_view>

#include "lumen/ir/op.h"

namespace lumen::hlir {

Diag op_error(std::string_view op, std::string_view text);
Expected<void> check_dtype(std::string_view op, DTypeClasses admitted, const TensorType& given);
Expected<void> check_same(std::string_view op, const TensorType& a, const TensorType& b);
Expected<void> check_axis(std::string_view op, int64_t axis, const TensorType& given);
// The axis is not the constant 0.
Expected<void> check_not_empty(std::string_view op, int64_t axis, const TensorType& given);
// No dim is a negative constant or depends on a coordinate.
Expected<void> check_shape(std::string_view op, const Shape& shape);
// The coordinates in `e` are those of `shape`.
Expected<void> check_coordinates(std::string_view op, std::string_view what, Expr e, const Shape& shape);
// `type` without `axis`.
TensorType drop_axis(const TensorType& type, int64_t axis);

}  // namespace lumen::hlir
