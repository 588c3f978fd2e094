#include <cmath>
#include <limits>
#include <numbers>

#include "lumen/frontend/elementwise.h"
#include "lumen/frontend/operators.h"
#include "lumen/frontend/primitives.h"
#include "lumen/hlir/unary.h"

namespace lumen {

namespace {

constexpr double kPi = std::numbers::pi;

bool is_f64(Tensor x) { return x.dtype() == DType::f64; }

// An odd function from its values for x >= 0. Where x is tiny the function is x itself, which also keeps -0.
template <class F>
Tensor odd(Tensor x, F of_magnitude) {
  const Tensor size = abs(x);
  const Tensor value = of_magnitude(size);
  return where(lt(size, is_f64(x) ? 0x1p-28 : 0x1p-13), x, where(lt(x, 0), neg(value), value));
}

}  // namespace

Tensor sin(const Operand& x) {
  const Call call("sin", x.where());
  return emit(hlir::Sin{}, {floats(x.tensor())});
}

Tensor cos(const Operand& x) {
  const Call call("cos", x.where());
  return in_floats(x, [](Tensor v) { return 1 - 2 * square(sin(v * 0.5)); });
}

Tensor tan(const Operand& x) {
  const Call call("tan", x.where());
  return in_floats(x, [](Tensor v) {
    // sin / cos with cos = sin(2x) / (2 sin x), whose relative accuracy holds near the poles.
    const Tensor s = sin(v);
    return where(eq(v, 0), v, 2 * s * (s / sin(v * 2)));
  });
}

Tensor asin(const Operand& x) {
  const Call call("asin", x.where());
  return in_floats(x, [](Tensor v) { return atan(v / sqrt((1 - v) * (1 + v))); });
}

Tensor acos(const Operand& x) {
  const Call call("acos", x.where());
  return in_floats(x, [](Tensor v) { return 2 * atan(sqrt((1 - v) / (1 + v))); });
}

Tensor atan(const Operand& x) {
  const Call call("atan", x.where());
  return emit(hlir::Atan{}, {floats(x.tensor())});
}

Tensor atan2(const Operand& y, const Operand& x) {
  const Call call("atan2", y.where());
  return in_floats(y, x, [](Tensor v, Tensor u) {
    const Tensor av = abs(v);
    const Tensor au = abs(u);
    // Equal magnitudes apart: 0/0 counts as 0 and inf/inf as 1.
    const Tensor ratio = where(eq(av, au), cast_to(ne(au, 0), au.dtype()), av / au);
    const Tensor angle = atan(ratio);
    return copysign(where(signbit(u), kPi - angle, angle), v);
  });
}

Tensor sinh(const Operand& x) {
  const Call call("sinh", x.where());
  return in_floats(x, [](Tensor v) {
    return odd(v, [](Tensor a) {
      const Tensor e = expm1(a);
      const Tensor h = exp(a * 0.5);
      return where(lt(a, 20), 0.5 * (e + e / (e + 1)), 0.5 * h * h);
    });
  });
}

Tensor cosh(const Operand& x) {
  const Call call("cosh", x.where());
  return in_floats(x, [](Tensor v) {
    // Halves of x, so that nothing overflows before the result does.
    const Tensor h = exp(abs(v) * 0.5);
    const Tensor inverse = reciprocal(h);
    return 0.5 * h * h + 0.5 * inverse * inverse;
  });
}

Tensor tanh(const Operand& x) {
  const Call call("tanh", x.where());
  return emit(hlir::Tanh{}, {floats(x.tensor())});
}

Tensor asinh(const Operand& x) {
  const Call call("asinh", x.where());
  return in_floats(x, [](Tensor v) {
    return odd(v, [](Tensor a) {
      const Tensor near = log1p(a + a * (a / (1 + sqrt(1 + a * a))));
      return where(gt(a, is_f64(a) ? 0x1p28 : 0x1p13), log(a) + std::numbers::ln2, near);
    });
  });
}

Tensor acosh(const Operand& x) {
  const Call call("acosh", x.where());
  return in_floats(x, [](Tensor v) {
    const Tensor above = v - 1;
    const Tensor near = log1p(above + sqrt(above * (v + 1)));
    const Tensor far = log(v) + std::numbers::ln2;
    const Tensor result = where(gt(v, is_f64(v) ? 0x1p28 : 0x1p13), far, near);
    return where(lt(v, 1), std::numeric_limits<double>::quiet_NaN(), result);
  });
}

Tensor atanh(const Operand& x) {
  const Call call("atanh", x.where());
  return in_floats(x, [](Tensor v) { return odd(v, [](Tensor a) { return 0.5 * log1p(2 * a / (1 - a)); }); });
}

}  // namespace lumen
