#include <cmath>
#include <numbers>

#include "lumen/frontend/elementwise.h"
#include "lumen/frontend/operators.h"
#include "lumen/frontend/primitives.h"

namespace lumen {

Tensor relu(const Operand& x) {
  const Call call("relu", x.where());
  if (is_bool(x.tensor().dtype())) fail("not defined for bool");
  return maximum(x, 0);
}

Tensor relu6(const Operand& x) {
  const Call call("relu6", x.where());
  return clip(x, 0, 6);
}

Tensor leaky_relu(const Operand& x, double negative_slope) {
  const Call call("leaky_relu", x.where());
  return in_floats(x, [&](Tensor v) { return where(gt(v, 0), v, v * negative_slope); });
}

Tensor prelu(const Operand& x, const Operand& weight) {
  const Call call("prelu", x.where());
  const Tensor v = x.tensor();
  Operand slope = weight;
  if (weight.is_tensor() && weight.tensor().rank() == 1) {
    const Tensor w = weight.tensor();
    const Expr channels = v.rank() >= 2 ? v.shape()[1] : Expr(1);
    if (w.shape()[0] != Expr(1) && w.shape()[0] != channels) {
      fail("weight " + w.type().str() + " has neither one value nor one per channel of " + v.type().str());
    }
    std::vector<Expr> dims(static_cast<size_t>(v.rank()), Expr(1));
    if (v.rank() >= 2) dims[1] = w.shape()[0];
    slope = reshaped(w, dims);
  }
  return in_floats(v, slope, [](Tensor a, Tensor w) { return where(gt(a, 0), a, a * w); });
}

Tensor elu(const Operand& x, double alpha) {
  const Call call("elu", x.where());
  return in_floats(x, [&](Tensor v) { return where(gt(v, 0), v, expm1(v) * alpha); });
}

Tensor celu(const Operand& x, double alpha) {
  const Call call("celu", x.where());
  if (alpha == 0) fail("alpha must not be 0");
  return in_floats(x, [&](Tensor v) { return where(gt(v, 0), v, expm1(v / alpha) * alpha); });
}

Tensor selu(const Operand& x) {
  const Call call("selu", x.where());
  constexpr double kAlpha = 1.6732632423543772848170429916717;
  constexpr double kScale = 1.0507009873554804934193349852946;
  return in_floats(x, [&](Tensor v) { return where(gt(v, 0), v * kScale, expm1(v) * (kAlpha * kScale)); });
}

Tensor sigmoid(const Operand& x) {
  const Call call("sigmoid", x.where());
  return in_floats(x, [](Tensor v) { return reciprocal(1 + exp(-v)); });
}

Tensor logsigmoid(const Operand& x) {
  const Call call("logsigmoid", x.where());
  return in_floats(x, [](Tensor v) { return minimum(v, 0) - log1p(exp(-abs(v))); });
}

Tensor hardsigmoid(const Operand& x) {
  const Call call("hardsigmoid", x.where());
  return in_floats(x, [](Tensor v) { return clip(v + 3, 0, 6) / 6; });
}

Tensor hardswish(const Operand& x) {
  const Call call("hardswish", x.where());
  return in_floats(x, [](Tensor v) { return v * clip(v + 3, 0, 6) / 6; });
}

Tensor hardtanh(const Operand& x, double lo, double hi) {
  const Call call("hardtanh", x.where());
  return in_floats(x, [&](Tensor v) { return clip(v, lo, hi); });
}

Tensor silu(const Operand& x) {
  const Call call("silu", x.where());
  return in_floats(x, [](Tensor v) { return v * sigmoid(v); });
}

Tensor swish(const Operand& x) {
  const Call call("swish", x.where());
  return silu(x);
}

Tensor mish(const Operand& x) {
  const Call call("mish", x.where());
  return in_floats(x, [](Tensor v) { return v * tanh(softplus(v)); });
}

Tensor softplus(const Operand& x, double beta, double threshold) {
  const Call call("softplus", x.where());
  return in_floats(x, [&](Tensor v) {
    const Tensor scaled = v * beta;
    return where(gt(scaled, threshold), v, log1p(exp(scaled)) / beta);
  });
}

Tensor softsign(const Operand& x) {
  const Call call("softsign", x.where());
  return in_floats(x, [](Tensor v) { return v / (1 + abs(v)); });
}

Tensor gelu(const Operand& x) {
  const Call call("gelu", x.where());
  return in_floats(x, [](Tensor v) { return v * 0.5 * (1 + erf(v * (1 / std::numbers::sqrt2))); });
}

Tensor gelu_tanh(const Operand& x) {
  const Call call("gelu_tanh", x.where());
  return in_floats(x, [](Tensor v) {
    const Tensor inner = (v + 0.044715 * v * v * v) * std::sqrt(2 / std::numbers::pi);
    return v * 0.5 * (1 + tanh(inner));
  });
}

}  // namespace lumen
