// The primitives as functions of tensors that already agree in dtype and shape, and the dtypes the frontend computes
// in. What a user calls promotes and broadcasts first and then speaks in these.
#pragma once

#include <utility>
#include <vector>

#include "lumen/frontend/build.h"
#include "lumen/frontend/operand.h"
#include "lumen/frontend/promote.h"
#include "lumen/hlir/indexing.h"
#include "lumen/hlir/scan.h"

namespace lumen {

// leaves
Tensor scalar(Graph& g, Scalar value);
// A number as a tensor of shape []; a symbolic dim becomes an Iota.
Tensor number(Graph& g, DType dtype, const Operand& value);
// A number as the value a constant or a fill has; fails when it is a tensor or depends on a dim.
Scalar fill_of(DType dtype, const Operand& value);
Tensor filled(Graph& g, const Shape& shape, Scalar value);
Tensor iota_of(Graph& g, const Shape& shape, Expr value, DType dtype);

// elementwise
Tensor select_of(Tensor condition, Tensor a, Tensor b);
Tensor not_of(Tensor condition);  // bool
// x itself when nothing changes; a Constant is cast at once.
Tensor cast_to(Tensor x, DType to);
// Every bit flipped, which turns the order of integers round.
Tensor complement(Tensor x);

// movement
Tensor broadcast(Tensor x, const Shape& to);
Tensor reshaped(Tensor x, const Shape& to);
Tensor permuted(Tensor x, const std::vector<int64_t>& order);
Tensor sliced(Tensor x, int64_t axis, Expr start, Expr count, Expr step = 1);
Tensor padded(Tensor x, int64_t axis, Expr before, Expr after, Scalar fill);
Tensor inserted(Tensor x, int64_t axis);  // a dim of size 1

// along an axis
Tensor sum_reduce(Tensor x, int64_t axis);
Tensor max_reduce(Tensor x, int64_t axis);
Tensor prod_reduce(Tensor x, int64_t axis);
Tensor arg_max(Tensor x, int64_t axis);
Tensor scan_of(Tensor x, int64_t axis, hlir::ScanKind kind);
Tensor gather_of(Tensor x, Tensor indices, int64_t axis);
Tensor scatter_of(Tensor x, Tensor indices, Tensor source, int64_t axis, hlir::ScatterMode mode);

// f(x, axis) with the axis checked; a scalar counts as a row of one, as in PyTorch. The result has x's shape.
template <class F>
Tensor along_axis(Tensor x, int64_t axis, F f) {
  if (x.rank() > 0) return f(x, checked_axis(x, axis));
  checked_axis(x, axis, 1);
  return reshaped(f(inserted(x, 0), 0), Shape());
}

// The least value: -inf, or the lowest integer.
Scalar least(DType dtype);
Scalar positive_infinity(DType dtype);  // floats

// What functions of several primitives compute in: f32 for every float narrower than that.
DType wide(DType dtype);
// Integers and bools as f32; floats as they are.
Tensor floats(Tensor x);

// f(x) computed in the wide dtype and rounded once to x's; integers and bools give f32.
template <class F>
Tensor in_floats(const Operand& x, F f) {
  const Tensor v = floats(x.tensor());
  return cast_to(f(cast_to(v, wide(v.dtype()))), v.dtype());
}
// The same for two operands, promoted and broadcast.
template <class F>
Tensor in_floats(const Operand& a, const Operand& b, F f) {
  const Operand operands[] = {a, b};
  const DType dtype = float_dtype(operands);
  const std::vector<Tensor> both = promote_to_floats(operands, wide(dtype));
  return cast_to(f(both[0], both[1]), dtype);
}

}  // namespace lumen
