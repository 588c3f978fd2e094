// View: reading a tensor through an index map (ir/view.h), as an op.
#pragma once

#include "lumen/ir/op.h"

namespace lumen::hlir {

struct View {
  lumen::View view;
  static constexpr std::string_view kName = "View";
  static constexpr std::string_view kDoc =
      "The element at the view's index where its guard holds, its fill elsewhere. A read outside the operand is an "
      "error: when built if that is certain, else when run.";
  static constexpr int kArity = 1;
  static constexpr OpFamily kFamily = OpFamily::view;
  static constexpr DTypeClasses kOperands = kAnyDType;
  static constexpr auto fields() { return std::tuple{Field{"view", &View::view}}; }
  static Expected<TensorType> infer(const View& op, std::span<const TensorType> operands);
  static Expected<void> eval(const View& op, const EvalContext& context, std::span<const HostTensor* const> in,
                             HostTensor& out);
};

// The error of a read outside a source of `numel` elements.
Diag outside_error(const lumen::View& view, int64_t index, int64_t numel);

}  // namespace lumen::hlir
