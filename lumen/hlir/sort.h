// Sort: the order of the elements along an axis.
#pragma once

#include "lumen/ir/op.h"

namespace lumen::hlir {

struct Sort {
  int64_t axis = 0;
  bool descending = false;
  static constexpr std::string_view kName = "Sort";
  static constexpr std::string_view kDoc =
      "The positions along `axis`, as i64, in the order that sorts it. Stable: equal elements keep their order. NaN "
      "is the largest, so last, or first when descending.";
  static constexpr int kArity = 1;
  static constexpr OpFamily kFamily = OpFamily::sort;
  static constexpr DTypeClasses kOperands = kAnyDType;
  static constexpr auto fields() {
    return std::tuple{Field{"axis", &Sort::axis}, Field{"descending", &Sort::descending}};
  }
  static Expected<TensorType> infer(const Sort& op, std::span<const TensorType> operands);
  static Expected<void> eval(const Sort& op, const EvalContext& context, std::span<const HostTensor* const> in,
                             HostTensor& out);
};

}  // namespace lumen::hlir
