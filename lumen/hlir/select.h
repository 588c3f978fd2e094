// Select: a or b, element by element.
#pragma once

#include "lumen/ir/op.h"

namespace lumen::hlir {

struct Select {
  static constexpr std::string_view kName = "Select";
  static constexpr std::string_view kDoc =
      "a where the condition is true, b elsewhere; what is not taken has no effect.";
  static constexpr int kArity = 3;
  static constexpr OpFamily kFamily = OpFamily::select;
  static constexpr DTypeClasses kOperands = {.floating = false, .integer = false, .boolean = true};
  static constexpr auto fields() { return std::tuple{}; }
  static Expected<TensorType> infer(const Select&, std::span<const TensorType> operands);
  static void apply(const Select&, const ApplyArgs& args);
};

}  // namespace lumen::hlir
