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

// The positions that `choose(order)` keeps along the axis, with the elements there.
template <class Choose>
ValuesAndIndices chosen(Tensor x, int64_t axis, bool descending, Choose choose) {
  if (x.rank() == 0) {
    checked_axis(x, axis, 1);
    return {x, filled(*x.graph, Shape(), fill_of(DType::i64, 0))};
  }
  const int64_t a = checked_axis(x, axis);
  const Tensor places = choose(order_of(x, a, descending), a);
  return {take_elements(x, a, places, Indices::trusted), places};
}

}  // namespace

ValuesAndIndices sort(const Operand& x, int64_t axis, bool descending) {
  const Call call("sort", x.where());
  return chosen(x.tensor(), axis, descending, [](Tensor order, int64_t) { return order; });
}

Tensor argsort(const Operand& x, int64_t axis, bool descending) {
  const Call call("argsort", x.where());
  return along_axis(x.tensor(), axis, [&](Tensor v, int64_t a) { return order_of(v, a, descending); });
}

ValuesAndIndices topk(const Operand& x, Expr k, int64_t axis, bool largest) {
  const Call call("topk", x.where());
  const Tensor v = x.tensor();
  const Expr size = v.rank() == 0 ? Expr(1) : v.shape()[checked_axis(v, axis)];
  if (refuted(ge(k, 0)) || refuted(le(k, size))) {
    fail(fmt::format("k = {} out of range for axis {} of {}", k.str(), axis, v.type().str()));
  }
  return chosen(v, axis, largest, [&](Tensor order, int64_t a) { return sliced(order, a, 0, k); });
}

ValuesAndIndices median(const Operand& x, int64_t axis) {
  const Call call("median", x.where());
  const Tensor v = x.tensor();
  if (v.rank() == 0) return sort(x, axis);
  const int64_t a = checked_axis(v, axis);
  const Expr size = v.shape()[a];
  if (size == Expr(0)) fail(fmt::format("axis {} of {} is empty", axis, v.type().str()));
  const ValuesAndIndices middle = chosen(v, axis, false, [&](Tensor order, int64_t) {
    const Tensor lower = sliced(order, a, floor_div(size - 1, 2), 1);
    // A row with a NaN has no order: its median is its first NaN.
    return is_float(v.dtype()) ? where(any(isnan(v), {a}, true), argmax(v, a, true), lower) : lower;
  });
  const Shape shape = without(v.shape(), a);
  return {reshaped(middle.values, shape), reshaped(middle.indices, shape)};
}

}  // namespace lumen
