#include "tests/conformance/call.h"

namespace lumen::conformance {

namespace {

Results minus(const Call& c) { return {c.optional_operand(1) ? c.operand(0) - c.operand(1) : -c.operand(0)}; }

// The left side of an assigning operator is a tensor.
template <class Assign>
auto assigning(Assign assign) {
  return [assign](const Call& c) -> Results {
    Tensor a = c.x().tensor();
    return {assign(a, c.operand(1))};
  };
}

template <class F>
auto with_real(F f, std::string_view argument) {
  return [f, argument](const Call& c) -> Results { return {f(c.x(), c.real(argument))}; };
}

}  // namespace

std::span<const Function> elementwise_functions() {
  static const std::vector<Function> table = {
      {"add", binary(add)},
      {"sub", binary(sub)},
      {"mul", binary(mul)},
      {"div", binary(div)},
      {"floor_divide", binary(floor_divide)},
      {"trunc_divide", binary(trunc_divide)},
      {"remainder", binary(remainder)},
      {"fmod", binary(fmod)},
      {"pow", binary(pow)},
      {"neg", unary(neg)},
      {"abs", unary(abs)},
      {"sign", unary(sign)},
      {"square", unary(square)},
      {"reciprocal", unary(reciprocal)},
      {"maximum", binary(maximum)},
      {"minimum", binary(minimum)},
      {"fmax", binary(fmax)},
      {"fmin", binary(fmin)},
      {"clip", [](const Call& c) -> Results { return {clip(c.x(), c.optional_operand(1), c.optional_operand(2))}; }},
      {"lerp", ternary(lerp)},
      {"hypot", binary(hypot)},
      {"copysign", binary(copysign)},
      {"lt", binary(lt)},
      {"le", binary(le)},
      {"gt", binary(gt)},
      {"ge", binary(ge)},
      {"eq", binary(eq)},
      {"ne", binary(ne)},
      {"logical_and", binary(logical_and)},
      {"logical_or", binary(logical_or)},
      {"logical_xor", binary(logical_xor)},
      {"logical_not", unary(logical_not)},
      {"isnan", unary(isnan)},
      {"isinf", unary(isinf)},
      {"isfinite", unary(isfinite)},
      {"signbit", unary(signbit)},
      {"where", ternary(where)},
      {"masked_fill", ternary(masked_fill)},
      {"bitwise_and", binary(bitwise_and)},
      {"bitwise_or", binary(bitwise_or)},
      {"bitwise_xor", binary(bitwise_xor)},
      {"bitwise_not", unary(bitwise_not)},
      {"shift_left", binary(shift_left)},
      {"shift_right", binary(shift_right)},
      {"exp", unary(exp)},
      {"exp2", unary(exp2)},
      {"expm1", unary(expm1)},
      {"log", unary(log)},
      {"log2", unary(log2)},
      {"log10", unary(log10)},
      {"log1p", unary(log1p)},
      {"logaddexp", binary(logaddexp)},
      {"sqrt", unary(sqrt)},
      {"rsqrt", unary(rsqrt)},
      {"erf", unary(erf)},
      {"erfc", unary(erfc)},
      {"floor", unary(floor)},
      {"ceil", unary(ceil)},
      {"round", unary(round)},
      {"trunc", unary(trunc)},
      {"frac", unary(frac)},
      {"sin", unary(sin)},
      {"cos", unary(cos)},
      {"tan", unary(tan)},
      {"asin", unary(asin)},
      {"acos", unary(acos)},
      {"atan", unary(atan)},
      {"atan2", binary(atan2)},
      {"sinh", unary(sinh)},
      {"cosh", unary(cosh)},
      {"tanh", unary(tanh)},
      {"asinh", unary(asinh)},
      {"acosh", unary(acosh)},
      {"atanh", unary(atanh)},
      {"relu", unary(relu)},
      {"relu6", unary(relu6)},
      {"leaky_relu", with_real(leaky_relu, "negative_slope")},
      {"prelu", binary(prelu)},
      {"elu", with_real(elu, "alpha")},
      {"celu", with_real(celu, "alpha")},
      {"selu", unary(selu)},
      {"sigmoid", unary(sigmoid)},
      {"logsigmoid", unary(logsigmoid)},
      {"hardsigmoid", unary(hardsigmoid)},
      {"hardswish", unary(hardswish)},
      {"hardtanh", [](const Call& c) -> Results { return {hardtanh(c.x(), c.real("lo"), c.real("hi"))}; }},
      {"silu", unary(silu)},
      {"swish", unary(swish)},
      {"mish", unary(mish)},
      {"softplus", [](const Call& c) -> Results { return {softplus(c.x(), c.real("beta"), c.real("threshold"))}; }},
      {"softsign", unary(softsign)},
      {"gelu", unary(gelu)},
      {"gelu_tanh", unary(gelu_tanh)},
      {"cast", [](const Call& c) -> Results { return {cast(c.x(), c.dtype())}; }},
      {"bitcast", [](const Call& c) -> Results { return {bitcast(c.x(), c.dtype())}; }},
      {"operator+", binary(operator+)},
      {"operator-", minus},
      {"operator*", binary(operator*)},
      {"operator/", binary(operator/)},
      {"operator%", binary(operator%)},
      {"operator+=", assigning([](Tensor& a, const Operand& b) { return a += b; })},
      {"operator-=", assigning([](Tensor& a, const Operand& b) { return a -= b; })},
      {"operator*=", assigning([](Tensor& a, const Operand& b) { return a *= b; })},
      {"operator/=", assigning([](Tensor& a, const Operand& b) { return a /= b; })},
      {"operator%=", assigning([](Tensor& a, const Operand& b) { return a %= b; })},
  };
  return table;
}

}  // namespace lumen::conformance
