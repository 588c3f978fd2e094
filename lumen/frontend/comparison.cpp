#include "lumen/frontend/elementwise.h"
#include "lumen/frontend/primitives.h"
#include "lumen/hlir/binary.h"
#include "lumen/hlir/cast.h"

namespace lumen {

namespace {

Tensor less(Tensor a, Tensor b) { return emit(hlir::LessThan{}, {a, b}); }
Tensor equal(Tensor a, Tensor b) { return emit(hlir::Equal{}, {a, b}); }

// Not `not (b < a)` for floats: that would hold for NaN.
Tensor less_or_equal(Tensor a, Tensor b) {
  if (!is_float(a.dtype())) return not_of(less(b, a));
  return emit(hlir::BitOr{}, {less(a, b), equal(a, b)});
}

template <class F>
Tensor on_pair(const Operand& a, const Operand& b, F f) {
  const Operand operands[] = {a, b};
  const std::vector<Tensor> both = promote_and_broadcast(operands);
  return f(both[0], both[1]);
}

Tensor truth(Tensor x) {
  if (is_bool(x.dtype())) return x;
  return not_of(equal(x, filled(*x.graph, x.shape(), fill_of(x.dtype(), 0))));
}

template <class Op>
Tensor on_truths(const Operand& a, const Operand& b) {
  return on_pair(a, b, [](Tensor x, Tensor y) { return emit(Op{}, {truth(x), truth(y)}); });
}

template <class Op>
Tensor on_bits(const Operand& a, const Operand& b) {
  return on_pair(a, b, [](Tensor x, Tensor y) {
    if (is_float(x.dtype())) fail("needs integers or bools, got " + x.type().str());
    return emit(Op{}, {x, y});
  });
}

Tensor shifted(const Operand& a, const Operand& b, hlir::ShiftDirection direction) {
  return on_pair(a, b, [&](Tensor x, Tensor y) {
    if (!is_int(x.dtype())) fail("needs integers, got " + x.type().str());
    hlir::Shift op;
    op.direction = direction;
    return emit(op, {x, y});
  });
}

// Narrow floats are looked at in f32, which holds them exactly and has infinities.
Tensor magnitude(const Operand& x) {
  const Tensor v = floats(x.tensor());
  return abs(cast_to(v, wide(v.dtype())));
}

Tensor infinity_like(Tensor x) { return filled(*x.graph, x.shape(), positive_infinity(x.dtype())); }

}  // namespace

Tensor lt(const Operand& a, const Operand& b) {
  const Call call("lt", a.where());
  return on_pair(a, b, less);
}

Tensor le(const Operand& a, const Operand& b) {
  const Call call("le", a.where());
  return on_pair(a, b, less_or_equal);
}

Tensor gt(const Operand& a, const Operand& b) {
  const Call call("gt", a.where());
  return on_pair(a, b, [](Tensor x, Tensor y) { return less(y, x); });
}

Tensor ge(const Operand& a, const Operand& b) {
  const Call call("ge", a.where());
  return on_pair(a, b, [](Tensor x, Tensor y) { return less_or_equal(y, x); });
}

Tensor eq(const Operand& a, const Operand& b) {
  const Call call("eq", a.where());
  return on_pair(a, b, equal);
}

Tensor ne(const Operand& a, const Operand& b) {
  const Call call("ne", a.where());
  return on_pair(a, b, [](Tensor x, Tensor y) { return not_of(equal(x, y)); });
}

Tensor logical_and(const Operand& a, const Operand& b) {
  const Call call("logical_and", a.where());
  return on_truths<hlir::BitAnd>(a, b);
}

Tensor logical_or(const Operand& a, const Operand& b) {
  const Call call("logical_or", a.where());
  return on_truths<hlir::BitOr>(a, b);
}

Tensor logical_xor(const Operand& a, const Operand& b) {
  const Call call("logical_xor", a.where());
  return on_truths<hlir::BitXor>(a, b);
}

Tensor logical_not(const Operand& x) {
  const Call call("logical_not", x.where());
  return not_of(truth(x.tensor()));
}

Tensor isnan(const Operand& x) {
  const Call call("isnan", x.where());
  return not_of(equal(x.tensor(), x.tensor()));
}

Tensor isinf(const Operand& x) {
  const Call call("isinf", x.where());
  const Tensor size = magnitude(x);
  return equal(size, infinity_like(size));
}

Tensor isfinite(const Operand& x) {
  const Call call("isfinite", x.where());
  const Tensor size = magnitude(x);
  return less(size, infinity_like(size));
}

Tensor signbit(const Operand& x) {
  const Call call("signbit", x.where());
  const Tensor v = x.tensor();
  if (is_bool(v.dtype())) return filled(*v.graph, v.shape(), fill_of(DType::bool_, 0));
  if (is_int(v.dtype())) return lt(v, 0);
  const Tensor w = cast_to(v, wide(v.dtype()));
  hlir::Bitcast op;
  op.to = w.dtype() == DType::f64 ? DType::i64 : DType::i32;
  return lt(emit(op, {w}), 0);
}

Tensor where(const Operand& condition, const Operand& a, const Operand& b) {
  const Call call("where", condition.where());
  const Tensor c = condition.tensor();
  if (!is_bool(c.dtype())) fail("the condition must be bool, got " + c.type().str());
  const Operand operands[] = {a, b};
  std::vector<Tensor> both;
  if (a.is_tensor() || b.is_tensor()) {
    both = promote_only(operands);
  } else {
    const bool floating = std::holds_alternative<double>(a.value()) || std::holds_alternative<double>(b.value());
    const bool boolean = std::holds_alternative<bool>(a.value()) && std::holds_alternative<bool>(b.value());
    const DType dtype = floating ? DType::f32 : boolean ? DType::bool_ : DType::i64;
    for (const Operand& operand : operands) both.push_back(number(*c.graph, dtype, operand));
  }
  const Shape shapes[] = {c.shape(), both[0].shape(), both[1].shape()};
  const Shape to = broadcast_shapes(shapes);
  return select_of(broadcast(c, to), broadcast(both[0], to), broadcast(both[1], to));
}

Tensor masked_fill(const Operand& x, const Operand& mask, const Operand& value) {
  const Call call("masked_fill", x.where());
  const Tensor v = x.tensor();
  const Tensor fill = value.is_tensor() ? cast_to(value.tensor(), v.dtype()) : number(*v.graph, v.dtype(), value);
  return where(mask, fill, v);
}

Tensor bitwise_and(const Operand& a, const Operand& b) {
  const Call call("bitwise_and", a.where());
  return on_bits<hlir::BitAnd>(a, b);
}

Tensor bitwise_or(const Operand& a, const Operand& b) {
  const Call call("bitwise_or", a.where());
  return on_bits<hlir::BitOr>(a, b);
}

Tensor bitwise_xor(const Operand& a, const Operand& b) {
  const Call call("bitwise_xor", a.where());
  return on_bits<hlir::BitXor>(a, b);
}

Tensor bitwise_not(const Operand& x) {
  const Call call("bitwise_not", x.where());
  if (is_float(x.tensor().dtype())) fail("needs integers or bools, got " + x.tensor().type().str());
  return complement(x.tensor());
}

Tensor shift_left(const Operand& a, const Operand& b) {
  const Call call("shift_left", a.where());
  return shifted(a, b, hlir::ShiftDirection::left);
}

Tensor shift_right(const Operand& a, const Operand& b) {
  const Call call("shift_right", a.where());
  return shifted(a, b, hlir::ShiftDirection::right);
}

}  // namespace lumen
