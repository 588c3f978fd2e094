#include "tests/conformance/call.h"

namespace lumen::conformance {

namespace {

Results attention(const Call& c) {
  AttentionOptions options;
  options.mask = c.optional_operand(3);
  options.causal = c.flag("causal");
  if (c.has("scale")) options.scale = c.real("scale");
  options.enable_gqa = c.flag("enable_gqa");
  return {scaled_dot_product_attention(c.operand(0), c.operand(1), c.operand(2), options)};
}

Results rotate(const Call& c) {
  const RopeLayout layout = c.text("layout") == "half" ? RopeLayout::half : RopeLayout::interleaved;
  return {rope(c.operand(0), c.operand(1), c.real("base"), layout)};
}

}  // namespace

std::span<const Function> attention_functions() {
  static const std::vector<Function> table = {
      {"scaled_dot_product_attention", attention},
      {"rope", rotate},
  };
  return table;
}

}  // namespace lumen::conformance
