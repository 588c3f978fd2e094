// Elementwise functions. Operands broadcast; see promote.h for dtypes.
#pragma once

#include <optional>

#include "lumen/frontend/operand.h"

namespace lumen {

// arithmetic
Tensor add(const Operand& a, const Operand& b);
Tensor sub(const Operand& a, const Operand& b);  // not for bools, as in PyTorch
Tensor mul(const Operand& a, const Operand& b);
Tensor div(const Operand& a, const Operand& b);           // true division
Tensor floor_divide(const Operand& a, const Operand& b);  // towards -inf
Tensor trunc_divide(const Operand& a, const Operand& b);  // towards 0
Tensor remainder(const Operand& a, const Operand& b);     // sign of b
Tensor fmod(const Operand& a, const Operand& b);          // sign of a
Tensor pow(const Operand& a, const Operand& b);
Tensor neg(const Operand& x);
Tensor abs(const Operand& x);
Tensor sign(const Operand& x);
Tensor square(const Operand& x);
Tensor reciprocal(const Operand& x);
Tensor maximum(const Operand& a, const Operand& b);  // NaN if either is
Tensor minimum(const Operand& a, const Operand& b);
Tensor fmax(const Operand& a, const Operand& b);  // the other one if one is NaN
Tensor fmin(const Operand& a, const Operand& b);
Tensor clip(const Operand& x, const std::optional<Operand>& lo, const std::optional<Operand>& hi);
Tensor lerp(const Operand& a, const Operand& b, const Operand& weight);
Tensor hypot(const Operand& a, const Operand& b);
Tensor copysign(const Operand& a, const Operand& b);

// comparison and logic (results are bool)
Tensor lt(const Operand& a, const Operand& b);
Tensor le(const Operand& a, const Operand& b);
Tensor gt(const Operand& a, const Operand& b);
Tensor ge(const Operand& a, const Operand& b);
Tensor eq(const Operand& a, const Operand& b);
Tensor ne(const Operand& a, const Operand& b);
Tensor logical_and(const Operand& a, const Operand& b);
Tensor logical_or(const Operand& a, const Operand& b);
Tensor logical_xor(const Operand& a, const Operand& b);
Tensor logical_not(const Operand& x);
Tensor isnan(const Operand& x);
Tensor isinf(const Operand& x);
Tensor isfinite(const Operand& x);
Tensor signbit(const Operand& x);
Tensor where(const Operand& condition, const Operand& a, const Operand& b);
Tensor masked_fill(const Operand& x, const Operand& mask, const Operand& value);

// bits (integers and bool)
Tensor bitwise_and(const Operand& a, const Operand& b);
Tensor bitwise_or(const Operand& a, const Operand& b);
Tensor bitwise_xor(const Operand& a, const Operand& b);
Tensor bitwise_not(const Operand& x);
Tensor shift_left(const Operand& a, const Operand& b);
Tensor shift_right(const Operand& a, const Operand& b);  // arithmetic for signed

// exponentials, logarithms, roots
Tensor exp(const Operand& x);
Tensor exp2(const Operand& x);
Tensor expm1(const Operand& x);
Tensor log(const Operand& x);
Tensor log2(const Operand& x);
Tensor log10(const Operand& x);
Tensor log1p(const Operand& x);
Tensor logaddexp(const Operand& a, const Operand& b);
Tensor sqrt(const Operand& x);
Tensor rsqrt(const Operand& x);
Tensor erf(const Operand& x);
Tensor erfc(const Operand& x);

// rounding
Tensor floor(const Operand& x);
Tensor ceil(const Operand& x);
Tensor round(const Operand& x);  // half to even
Tensor trunc(const Operand& x);
Tensor frac(const Operand& x);

// trigonometry
Tensor sin(const Operand& x);
Tensor cos(const Operand& x);
Tensor tan(const Operand& x);
Tensor asin(const Operand& x);
Tensor acos(const Operand& x);
Tensor atan(const Operand& x);
Tensor atan2(const Operand& y, const Operand& x);
Tensor sinh(const Operand& x);
Tensor cosh(const Operand& x);
Tensor tanh(const Operand& x);
Tensor asinh(const Operand& x);
Tensor acosh(const Operand& x);
Tensor atanh(const Operand& x);

// activations
Tensor relu(const Operand& x);
Tensor relu6(const Operand& x);
Tensor leaky_relu(const Operand& x, double negative_slope = 0.01);
Tensor prelu(const Operand& x, const Operand& weight);  // weight: one value, or one per channel (dim 1)
Tensor elu(const Operand& x, double alpha = 1.0);
Tensor celu(const Operand& x, double alpha = 1.0);
Tensor selu(const Operand& x);
Tensor sigmoid(const Operand& x);
Tensor logsigmoid(const Operand& x);
Tensor hardsigmoid(const Operand& x);
Tensor hardswish(const Operand& x);
Tensor hardtanh(const Operand& x, double lo = -1.0, double hi = 1.0);
Tensor silu(const Operand& x);
Tensor swish(const Operand& x);  // silu by its other name
Tensor mish(const Operand& x);
Tensor softplus(const Operand& x, double beta = 1.0, double threshold = 20.0);
Tensor softsign(const Operand& x);
Tensor gelu(const Operand& x);       // exact, with erf
Tensor gelu_tanh(const Operand& x);  // the tanh approximation

// types
Tensor cast(const Operand& x, DType to);
// The same bits as another dtype; the last dim scales with the ratio of widths.
Tensor bitcast(const Operand& x, DType to);

}  // namespace lumen
