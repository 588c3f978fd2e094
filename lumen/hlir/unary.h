// Elementwise functions of one float. The dtype stays; f64 is computed by the C library, narrower floats are computed
// in f64 and rounded once.
#pragma once

#include <cmath>

#include "lumen/hlir/infer.h"
#include "lumen/hlir/lanes.h"
#include "lumen/ir/op.h"

namespace lumen::hlir {

// An op provides kName, kDoc and `scalar`.
template <class Op>
struct Unary {
  static constexpr int kArity = 1;
  static constexpr OpFamily kFamily = OpFamily::unary;
  static constexpr DTypeClasses kOperands = kFloats;
  static constexpr auto fields() { return std::tuple{}; }
  static Expected<TensorType> infer(const Op&, std::span<const TensorType> operands) {
    LUMEN_TRY(check_dtype(Op::kName, Op::kOperands, operands[0]));
    return operands[0];
  }
  static void apply(const Op&, const ApplyArgs& args) {
    for (int64_t k = 0; k < args.count; ++k) args.out[k].f = Op::scalar(args.in[0][k].f);
    settle(args.out_dtype, args.out, args.count);
  }
};

struct Exp2 : Unary<Exp2> {
  static constexpr std::string_view kName = "Exp2";
  static constexpr std::string_view kDoc = "2 to the power x.";
  static double scalar(double x) { return std::exp2(x); }
};

struct Log2 : Unary<Log2> {
  static constexpr std::string_view kName = "Log2";
  static constexpr std::string_view kDoc = "Logarithm to base 2: -inf at 0, NaN below.";
  static double scalar(double x) { return std::log2(x); }
};

struct Sin : Unary<Sin> {
  static constexpr std::string_view kName = "Sin";
  static constexpr std::string_view kDoc = "Sine of x in radians; NaN at infinities.";
  static double scalar(double x) { return std::sin(x); }
};

struct Sqrt : Unary<Sqrt> {
  static constexpr std::string_view kName = "Sqrt";
  static constexpr std::string_view kDoc = "Square root: NaN below 0, -0 at -0.";
  static double scalar(double x) { return std::sqrt(x); }
};

struct Recip : Unary<Recip> {
  static constexpr std::string_view kName = "Recip";
  static constexpr std::string_view kDoc = "1/x; an infinity with x's sign at 0.";
  static double scalar(double x) { return 1.0 / x; }
};

struct Floor : Unary<Floor> {
  static constexpr std::string_view kName = "Floor";
  static constexpr std::string_view kDoc = "The largest integer not above x; -0, infinities and NaN stay.";
  static double scalar(double x) { return std::floor(x); }
};

struct Tanh : Unary<Tanh> {
  static constexpr std::string_view kName = "Tanh";
  static constexpr std::string_view kDoc = "Hyperbolic tangent.";
  static double scalar(double x) { return std::tanh(x); }
};

struct Erf : Unary<Erf> {
  static constexpr std::string_view kName = "Erf";
  static constexpr std::string_view kDoc = "The error function.";
  static double scalar(double x) { return std::erf(x); }
};

struct Atan : Unary<Atan> {
  static constexpr std::string_view kName = "Atan";
  static constexpr std::string_view kDoc = "Inverse tangent, between -pi/2 and pi/2.";
  static double scalar(double x) { return std::atan(x); }
};

}  // namespace lumen::hlir
