// Cast: the value as another dtype. Bitcast: the bits as another dtype.
#pragma once

#include "lumen/ir/op.h"

namespace lumen::hlir {

struct Cast {
  DType to = DType::f32;
  static constexpr std::string_view kName = "Cast";
  static constexpr std::string_view kDoc =
      "The value in dtype `to`. To floats: nearest, ties to even, rounded once. Between integers: wraps. Floats to "
      "integers: towards zero, saturating, NaN gives 0. To bool: not 0 (NaN gives true).";
  static constexpr int kArity = 1;
  static constexpr OpFamily kFamily = OpFamily::cast;
  static constexpr DTypeClasses kOperands = kAnyDType;
  static constexpr auto fields() { return std::tuple{Field{"to", &Cast::to}}; }
  static Expected<TensorType> infer(const Cast& op, std::span<const TensorType> operands);
  static void apply(const Cast& op, const ApplyArgs& args);
};

struct Bitcast {
  DType to = DType::f32;
  static constexpr std::string_view kName = "Bitcast";
  static constexpr std::string_view kDoc =
      "The same bits in dtype `to`; the last dim scales with the ratio of widths, which must divide it.";
  static constexpr int kArity = 1;
  static constexpr OpFamily kFamily = OpFamily::cast;
  static constexpr DTypeClasses kOperands = kAnyDType;
  static constexpr auto fields() { return std::tuple{Field{"to", &Bitcast::to}}; }
  static Expected<TensorType> infer(const Bitcast& op, std::span<const TensorType> operands);
  static Expected<void> eval(const Bitcast& op, const EvalContext& context, std::span<const HostTensor* const> in,
                             HostTensor& out);
};

}  // namespace lumen::hlir
