#include <array>
#include <numbers>

#include "lumen/frontend/elementwise.h"
#include "lumen/frontend/operators.h"
#include "lumen/frontend/primitives.h"
#include "lumen/hlir/unary.h"

namespace lumen {

namespace {

// erfc(x) * exp(x²) * (x + 3) for x >= 0.5 as a polynomial in 7/(x+3) - 1, which runs from 1 down to -1. A Chebyshev
// fit; with exp(-x²) in f64 the relative error stays below 3e-13 until erfc underflows.
constexpr std::array kErfcTail = {0.9589962033754645,      0.6277955952814106,     0.34605620908425216,
                                  0.15596654974225763,     0.05413190840326428,    0.012338549874499805,
                                  0.000575278301375082,    -0.000763117742203233,  -0.00023151886194583963,
                                  2.5297681260458974e-05,  2.7617804320324933e-05, 6.640044309387041e-07,
                                  -3.1347969680910874e-06, -2.54094526000508e-07,  3.6147209184154177e-07,
                                  2.5816656781071244e-08,  -3.067038816365965e-08};

Tensor erfc_tail(Tensor x) {
  const Tensor u = 7.0 / (x + 3) - 1;
  Tensor sum = filled(*x.graph, x.shape(), fill_of(x.dtype(), kErfcTail.back()));
  for (size_t k = kErfcTail.size() - 1; k-- > 0;) sum = sum * u + kErfcTail[k];
  return exp(-(x * x)) * sum / (x + 3);
}

}  // namespace

Tensor exp(const Operand& x) {
  const Call call("exp", x.where());
  return in_floats(x, [](Tensor v) { return exp2(v * std::numbers::log2e); });
}

Tensor exp2(const Operand& x) {
  const Call call("exp2", x.where());
  return emit(hlir::Exp2{}, {floats(x.tensor())});
}

Tensor expm1(const Operand& x) {
  const Call call("expm1", x.where());
  return in_floats(x, [](Tensor v) {
    // Kahan: the rounding error of u cancels in (u - 1) / log(u).
    const Tensor u = exp(v);
    const Tensor below = u - 1;
    const Tensor corrected = below * (v / log(u));
    return where(eq(u, 1), v, where(logical_or(eq(below, -1), isinf(u)), below, corrected));
  });
}

Tensor log(const Operand& x) {
  const Call call("log", x.where());
  return in_floats(x, [](Tensor v) { return log2(v) * std::numbers::ln2; });
}

Tensor log2(const Operand& x) {
  const Call call("log2", x.where());
  return emit(hlir::Log2{}, {floats(x.tensor())});
}

Tensor log10(const Operand& x) {
  const Call call("log10", x.where());
  return in_floats(x, [](Tensor v) { return log2(v) * (std::numbers::ln2 / std::numbers::ln10); });
}

Tensor log1p(const Operand& x) {
  const Call call("log1p", x.where());
  return in_floats(x, [](Tensor v) {
    // Kahan: x / (u - 1) undoes the rounding of u = 1 + x. Where nothing was rounded, log(u) is right as it is.
    const Tensor u = 1 + v;
    const Tensor kept = u - 1;
    const Tensor direct = log(u);
    return where(eq(u, 1), v, where(eq(kept, v), direct, direct * (v / kept)));
  });
}

Tensor logaddexp(const Operand& a, const Operand& b) {
  const Call call("logaddexp", a.where());
  return in_floats(a, b, [](Tensor x, Tensor y) {
    const Tensor larger = maximum(x, y);
    const Tensor result = larger + log1p(exp(-abs(x - y)));
    return where(logical_and(eq(x, y), isinf(x)), x, result);
  });
}

Tensor sqrt(const Operand& x) {
  const Call call("sqrt", x.where());
  return emit(hlir::Sqrt{}, {floats(x.tensor())});
}

Tensor rsqrt(const Operand& x) {
  const Call call("rsqrt", x.where());
  return in_floats(x, [](Tensor v) { return reciprocal(sqrt(v)); });
}

Tensor erf(const Operand& x) {
  const Call call("erf", x.where());
  return emit(hlir::Erf{}, {floats(x.tensor())});
}

Tensor erfc(const Operand& x) {
  const Call call("erfc", x.where());
  const Tensor v = floats(x.tensor());
  // In f64: exp(-x²) must keep f32's accuracy where x² is large.
  const Tensor w = cast_to(v, DType::f64);
  return cast_to(where(lt(w, 0.5), 1 - erf(w), erfc_tail(w)), v.dtype());
}

}  // namespace lumen
