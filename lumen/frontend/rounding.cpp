#include "lumen/frontend/elementwise.h"
#include "lumen/frontend/operators.h"
#include "lumen/frontend/primitives.h"
#include "lumen/hlir/cast.h"
#include "lumen/hlir/unary.h"

namespace lumen {

namespace {

Tensor floor_of(Tensor x) { return emit(hlir::Floor{}, {x}); }

// Integers are rounded already.
template <class F>
Tensor on_floats(const Operand& x, F f) {
  const Tensor v = x.tensor();
  if (is_bool(v.dtype())) fail("not defined for bool");
  return is_float(v.dtype()) ? f(v) : v;
}

Tensor ceil_of(Tensor x) { return neg(floor_of(neg(x))); }

Tensor trunc_of(Tensor x) { return where(lt(x, 0), ceil_of(x), floor_of(x)); }

Tensor round_of(Tensor x) {
  const Tensor down = floor_of(x);
  const Tensor rest = x - down;  // exact, and NaN for infinities, which then stay
  const Tensor half = down * 0.5;
  const Tensor is_odd = ne(floor_of(half), half);
  const Tensor goes_up = logical_or(gt(rest, 0.5), logical_and(eq(rest, 0.5), is_odd));
  const Tensor rounded = where(goes_up, down + 1, down);
  return where(eq(rounded, 0), x * 0, rounded);  // zeros keep the sign of x
}

}  // namespace

Tensor floor(const Operand& x) {
  const Call call("floor", x.where());
  return on_floats(x, floor_of);
}

Tensor ceil(const Operand& x) {
  const Call call("ceil", x.where());
  return on_floats(x, ceil_of);
}

Tensor round(const Operand& x) {
  const Call call("round", x.where());
  return on_floats(x, [](Tensor v) { return in_floats(v, round_of); });
}

Tensor trunc(const Operand& x) {
  const Call call("trunc", x.where());
  return on_floats(x, trunc_of);
}

Tensor frac(const Operand& x) {
  const Call call("frac", x.where());
  return in_floats(x, [](Tensor v) { return v - trunc_of(v); });
}

Tensor cast(const Operand& x, DType to) {
  const Call call("cast", x.where());
  return cast_to(x.tensor(), to);
}

Tensor bitcast(const Operand& x, DType to) {
  const Call call("bitcast", x.where());
  if (x.tensor().dtype() == to) return x.tensor();
  hlir::Bitcast op;
  op.to = to;
  return emit(op, {x.tensor()});
}

}  // namespace lumen
