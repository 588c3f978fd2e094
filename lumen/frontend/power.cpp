#include <cmath>
#include <limits>
#include <optional>

#include "lumen/frontend/elementwise.h"
#include "lumen/frontend/operators.h"
#include "lumen/frontend/primitives.h"
#include "lumen/hlir/unary.h"

namespace lumen {

namespace {

Tensor one_like(Tensor x) { return filled(*x.graph, x.shape(), fill_of(x.dtype(), 1)); }

// By repeated squaring; exponent >= 0.
Tensor power(Tensor base, int64_t exponent) {
  std::optional<Tensor> result;
  for (Tensor square = base; exponent > 0; exponent >>= 1) {
    if ((exponent & 1) != 0) result = result ? *result * square : square;
    if (exponent > 1) square = square * square;
  }
  return result.value_or(one_like(base));
}

// Wraps as repeated multiplication does, whatever the exponent; a negative one leaves 0 unless the base is 1 or -1.
Tensor integer_power(Tensor base, Tensor exponent) {
  const bool is_signed = !is_unsigned(base.dtype());
  const int bits = info(base.dtype()).bits - (is_signed ? 1 : 0);
  Tensor result = one_like(base);
  Tensor square = base;
  Tensor odd = ne(bitwise_and(exponent, 1), 0);
  const Tensor is_odd = odd;
  for (int k = 0; k < bits; ++k) {
    if (k > 0) odd = ne(bitwise_and(exponent, static_cast<int64_t>(uint64_t{1} << k)), 0);
    result = where(odd, result * square, result);
    square = square * square;
  }
  if (!is_signed) return result;
  const Tensor ones = where(eq(base, 1), base, where(eq(base, -1), where(is_odd, base, neg(base)), 0));
  return where(lt(exponent, 0), ones, result);
}

// As C's pow: every special case comes from what x and y say, the rest from 2^(y log2|x|).
Tensor float_power(Tensor x, Tensor y) {
  const Tensor size = abs(x);
  const Tensor half = y * 0.5;
  const Tensor is_whole = eq(floor(y), y);
  const Tensor is_odd = logical_and(is_whole, ne(floor(half), half));
  const Tensor always_one = logical_or(eq(y, 0), logical_or(eq(x, 1), logical_and(eq(size, 1), isinf(y))));
  const Tensor value = where(always_one, 1.0, exp2(y * log2(size)));
  const Tensor has_root = logical_or(is_whole, logical_or(ge(x, 0), logical_or(isinf(x), isnan(x))));
  const Tensor real = where(has_root, value, std::numeric_limits<double>::quiet_NaN());
  return where(logical_and(signbit(x), is_odd), neg(real), real);
}

std::optional<double> number_of(const Operand& operand) {
  if (const auto* i = std::get_if<int64_t>(&operand.value())) return static_cast<double>(*i);
  if (const auto* f = std::get_if<double>(&operand.value())) return *f;
  if (const auto* b = std::get_if<bool>(&operand.value())) return *b ? 1.0 : 0.0;
  const auto* e = std::get_if<Expr>(&operand.value());
  if (e != nullptr && e->is_constant()) return static_cast<double>(*e->constant());
  return std::nullopt;
}

// Exponents for which multiplication or a root is at least as accurate as the general form.
std::optional<Tensor> float_power_by_number(Tensor x, double exponent) {
  if (std::abs(exponent) == 0.5) return exponent > 0 ? sqrt(x) : rsqrt(x);
  if (exponent != std::trunc(exponent) || std::abs(exponent) > 4) return std::nullopt;
  const Tensor value = power(x, static_cast<int64_t>(std::abs(exponent)));
  return exponent < 0 ? reciprocal(value) : value;
}

}  // namespace

Tensor pow(const Operand& a, const Operand& b) {
  const Call call("pow", a.where());
  const Operand operands[] = {a, b};
  const DType dtype = common_dtype(operands);
  const std::optional<double> exponent = number_of(b);
  if (is_bool(dtype)) fail("not defined for bool");
  if (!is_float(dtype)) {
    const std::vector<Tensor> both = promote_and_broadcast(operands);
    if (!exponent) return integer_power(both[0], both[1]);
    if (*exponent < 0) fail("integers have no negative integer powers");
    return power(both[0], static_cast<int64_t>(*exponent));
  }
  if (exponent) {
    const Tensor x = promote_to_floats(operands, wide(dtype))[0];
    if (const auto value = float_power_by_number(x, *exponent)) return cast_to(*value, dtype);
  }
  // One step wider than the operands: the error of log2 is multiplied by y.
  const std::vector<Tensor> both = promote_to_floats(operands, info(dtype).bits < 32 ? DType::f32 : DType::f64);
  return cast_to(float_power(both[0], both[1]), dtype);
}

}  // namespace lumen
