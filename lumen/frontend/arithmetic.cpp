#include <fmt/format.h>

#include <cmath>

#include "lumen/frontend/elementwise.h"
#include "lumen/frontend/operators.h"
#include "lumen/frontend/primitives.h"
#include "lumen/hlir/binary.h"
#include "lumen/hlir/unary.h"

namespace lumen {

namespace {

struct Pair {
  Tensor a, b;
  DType dtype() const { return a.dtype(); }
};

Pair promoted(const Operand& a, const Operand& b) {
  const Operand operands[] = {a, b};
  const std::vector<Tensor> both = promote_and_broadcast(operands);
  return {both[0], both[1]};
}

Pair promoted_numbers(const Operand& a, const Operand& b) {
  const Pair p = promoted(a, b);
  if (is_bool(p.dtype())) fail("not defined for bool");
  return p;
}

Tensor numbers(const Operand& x) {
  const Tensor v = x.tensor();
  if (is_bool(v.dtype())) fail("not defined for bool");
  return v;
}

// Whether `dtype` is a narrow float and the operand a number that it would round.
bool is_rounded_by(DType dtype, const Operand& operand) {
  const auto* value = std::get_if<double>(&operand.value());
  return value != nullptr && wide(dtype) != dtype && round_to(dtype, *value) != *value && !std::isnan(*value);
}

// f of a and b promoted. Beside a number that their dtype would round they meet in f32.
template <class F>
Tensor arithmetic(const Operand& a, const Operand& b, F f) {
  const Operand operands[] = {a, b};
  const DType dtype = common_dtype(operands);
  if (is_rounded_by(dtype, a) || is_rounded_by(dtype, b)) return in_floats(a, b, f);
  const std::vector<Tensor> both = promote_and_broadcast(operands);
  return f(both[0], both[1]);
}

// Where the integer quotient of a and b, rounded down, lies below the true one: signs differ and something remains.
Tensor rounded_down(Tensor a, Tensor b, Tensor rest) {
  return logical_and(ne(rest, 0), logical_xor(lt(a, 0), lt(b, 0)));
}

Tensor fmod_floats(Tensor a, Tensor b) { return copysign(emit(hlir::Mod{}, {abs(a), abs(b)}), a); }

// As PyTorch: floor(a / b) would be wrong where the quotient rounds up to an integer.
Tensor floor_divide_floats(Tensor a, Tensor b) {
  const Tensor rest = fmod_floats(a, b);
  const Tensor exact = (a - rest) / b;
  const Tensor crosses = logical_and(ne(rest, 0), ne(lt(b, 0), lt(rest, 0)));
  const Tensor quotient = where(crosses, exact - 1, exact);
  const Tensor down = emit(hlir::Floor{}, {quotient});
  const Tensor nearest = where(gt(quotient - down, 0.5), down + 1, down);
  const Tensor raw = emit(hlir::Div{}, {a, b});
  return where(eq(b, 0), raw, where(eq(quotient, 0), copysign(0.0, raw), nearest));
}

}  // namespace

Tensor add(const Operand& a, const Operand& b) {
  const Call call("add", a.where());
  return arithmetic(a, b, [](Tensor x, Tensor y) { return emit(hlir::Add{}, {x, y}); });
}

Tensor sub(const Operand& a, const Operand& b) {
  const Call call("sub", a.where());
  return arithmetic(a, b, [](Tensor x, Tensor y) { return emit(hlir::Add{}, {x, neg(y)}); });
}

Tensor mul(const Operand& a, const Operand& b) {
  const Call call("mul", a.where());
  return arithmetic(a, b, [](Tensor x, Tensor y) { return emit(hlir::Mul{}, {x, y}); });
}

Tensor div(const Operand& a, const Operand& b) {
  const Call call("div", a.where());
  const Operand operands[] = {a, b};
  const auto quotient = [](Tensor x, Tensor y) { return emit(hlir::Div{}, {x, y}); };
  return is_float(common_dtype(operands)) ? arithmetic(a, b, quotient) : in_floats(a, b, quotient);
}

Tensor floor_divide(const Operand& a, const Operand& b) {
  const Call call("floor_divide", a.where());
  const Pair p = promoted_numbers(a, b);
  if (is_float(p.dtype())) return in_floats(a, b, floor_divide_floats);
  return emit(hlir::Div{}, {p.a, p.b});
}

Tensor trunc_divide(const Operand& a, const Operand& b) {
  const Call call("trunc_divide", a.where());
  const Pair p = promoted_numbers(a, b);
  if (is_float(p.dtype())) return in_floats(a, b, [](Tensor x, Tensor y) { return trunc(x / y); });
  const Tensor quotient = emit(hlir::Div{}, {p.a, p.b});
  if (is_unsigned(p.dtype())) return quotient;
  return where(rounded_down(p.a, p.b, p.a - quotient * p.b), quotient + 1, quotient);
}

Tensor remainder(const Operand& a, const Operand& b) {
  const Call call("remainder", a.where());
  const Pair p = promoted_numbers(a, b);
  return emit(hlir::Mod{}, {p.a, p.b});
}

Tensor fmod(const Operand& a, const Operand& b) {
  const Call call("fmod", a.where());
  const Pair p = promoted_numbers(a, b);
  if (is_float(p.dtype())) return in_floats(p.a, p.b, fmod_floats);
  const Tensor rest = emit(hlir::Mod{}, {p.a, p.b});
  if (is_unsigned(p.dtype())) return rest;
  return where(rounded_down(p.a, p.b, rest), rest - p.b, rest);
}

Tensor neg(const Operand& x) {
  const Call call("neg", x.where());
  const Tensor v = numbers(x);
  return emit(hlir::Mul{}, {v, filled(*v.graph, v.shape(), fill_of(v.dtype(), -1))});
}

Tensor abs(const Operand& x) {
  const Call call("abs", x.where());
  const Tensor v = numbers(x);
  if (is_unsigned(v.dtype())) return v;
  // 0 - x, not -x: the magnitude of either zero is +0.
  return where(lt(0, v), v, 0 - v);
}

Tensor sign(const Operand& x) {
  const Call call("sign", x.where());
  const Tensor v = x.tensor();
  if (is_bool(v.dtype())) return v;
  const Tensor positive = cast_to(lt(0, v), v.dtype());
  return is_unsigned(v.dtype()) ? positive : where(lt(v, 0), -1, positive);
}

Tensor square(const Operand& x) {
  const Call call("square", x.where());
  const Tensor v = is_bool(x.tensor().dtype()) ? cast_to(x.tensor(), DType::i64) : x.tensor();
  return mul(v, v);
}

Tensor reciprocal(const Operand& x) {
  const Call call("reciprocal", x.where());
  return emit(hlir::Recip{}, {floats(x.tensor())});
}

Tensor maximum(const Operand& a, const Operand& b) {
  const Call call("maximum", a.where());
  const Pair p = promoted(a, b);
  return emit(hlir::Maximum{}, {p.a, p.b});
}

Tensor minimum(const Operand& a, const Operand& b) {
  const Call call("minimum", a.where());
  const Pair p = promoted(a, b);
  if (is_float(p.dtype())) return neg(emit(hlir::Maximum{}, {neg(p.a), neg(p.b)}));
  return complement(emit(hlir::Maximum{}, {complement(p.a), complement(p.b)}));
}

Tensor fmax(const Operand& a, const Operand& b) {
  const Call call("fmax", a.where());
  const Pair p = promoted(a, b);
  if (!is_float(p.dtype())) return maximum(p.a, p.b);
  return where(isnan(p.a), p.b, where(isnan(p.b), p.a, maximum(p.a, p.b)));
}

Tensor fmin(const Operand& a, const Operand& b) {
  const Call call("fmin", a.where());
  const Pair p = promoted(a, b);
  if (!is_float(p.dtype())) return minimum(p.a, p.b);
  return where(isnan(p.a), p.b, where(isnan(p.b), p.a, minimum(p.a, p.b)));
}

Tensor clip(const Operand& x, const std::optional<Operand>& lo, const std::optional<Operand>& hi) {
  const Call call("clip", x.where());
  if (!lo && !hi) fail("needs a lower or an upper bound");
  std::vector<Operand> operands{x};
  if (lo) operands.push_back(*lo);
  if (hi) operands.push_back(*hi);
  const std::vector<Tensor> all = promote_and_broadcast(operands);
  const Tensor above = lo ? maximum(all[0], all[1]) : all[0];
  return hi ? minimum(above, all.back()) : above;
}

Tensor lerp(const Operand& a, const Operand& b, const Operand& weight) {
  const Call call("lerp", a.where());
  const Operand operands[] = {a, b, weight};
  const DType dtype = float_dtype(operands);
  const std::vector<Tensor> all = promote_to_floats(operands, wide(dtype));
  const Tensor gap = all[1] - all[0];
  // From the nearer end, so that both ends are met exactly.
  const Tensor result = where(lt(abs(all[2]), 0.5), all[0] + all[2] * gap, all[1] - gap * (1 - all[2]));
  return cast_to(result, dtype);
}

Tensor hypot(const Operand& a, const Operand& b) {
  const Call call("hypot", a.where());
  return in_floats(a, b, [](Tensor x, Tensor y) {
    const Tensor ax = abs(x);
    const Tensor ay = abs(y);
    const Tensor larger = maximum(ax, ay);
    const Tensor ratio = minimum(ax, ay) / larger;
    const Tensor length = where(eq(larger, 0), larger, larger * sqrt(1 + ratio * ratio));
    return where(logical_or(isinf(x), isinf(y)), INFINITY, length);
  });
}

Tensor copysign(const Operand& a, const Operand& b) {
  const Call call("copysign", a.where());
  const Operand operands[] = {a, b};
  const std::vector<Tensor> both = promote_to_floats(operands, float_dtype(operands));
  const Tensor magnitude = abs(both[0]);
  return where(signbit(both[1]), neg(magnitude), magnitude);
}

}  // namespace lumen
