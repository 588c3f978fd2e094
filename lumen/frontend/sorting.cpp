#include "lumen/frontend/sorting.h"

#include <fmt/format.h>

#include "lumen/frontend/element_index.h"
#include "lumen/frontend/operators.h"
#include "lumen/hlir/sort.h"

namespace lumen {

namespace {

Tensor order_of(Tensor x, int64_t axis, bool descending) {
  hlir::Sort op;
  op.axis = axis;
  op.descending = descending;
  return emit(op, {x});
}

}  // namespace

ValuesAndIndices sort(const Operand& x, int64_t axis, bool descending) {
  const Call call("sort", x.where());
  const Tensor v = x.tensor();
  const int64_t a = checked_axis(v, axis);
  const Tensor order = order_of(v, a, descending);
  return {take_elements(v, a, order, Indices::trusted), order};
}

Tensor argsort(const Operand& x, int64_t axis, bool descending) {
  const Call call("argsort", x.where());
  return order_of(x.tensor(), checked_axis(x.tensor(), axis), descending);
}

ValuesAndIndices topk(const Operand& x, Expr k, int64_t axis, bool largest) {
  const Call call("topk", x.where());
  const Tensor v = x.tensor();
  const int64_t a = checked_axis(v, axis);
  if (refuted(ge(k, 0)) || refuted(le(k, v.shape()[a]))) {
    fail(fmt::format("k = {} out of range for axis {} of {}", k.str(), axis, v.type().str()));
  }
  const Tensor best = sliced(order_of(v, a, largest), a, 0, k);
  return {take_elements(v, a, best, Indices::trusted), best};
}

ValuesAndIndices median(const Operand& x, int64_t axis) {
  const Call call("median", x.where());
  const Tensor v = x.tensor();
  const int64_t a = checked_axis(v, axis);
  if (v.shape()[a] == Expr(0)) fail(fmt::format("axis {} of {} is empty", axis, v.type().str()));
  Tensor middle = sliced(order_of(v, a, false), a, floor_div(v.shape()[a] - 1, 2), 1);
  // A row with a NaN has no order: its median is its first NaN.
  if (is_float(v.dtype())) middle = where(any(isnan(v), {a}, true), argmax(v, a, true), middle);
  const Shape shape = without(v.shape(), a);
  return {reshaped(take_elements(v, a, middle, Indices::trusted), shape), reshaped(middle, shape)};
}

}  // namespace lumen
