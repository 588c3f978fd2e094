#include "tests/conformance/call.h"

namespace lumen::conformance {

std::span<const Function> linear_functions() {
  static const std::vector<Function> table = {
      {"matmul", binary(matmul)},
      {"dot", binary(dot)},
      {"outer", binary(outer)},
      {"linear", [](const Call& c) -> Results { return {linear(c.x(), c.operand(1), c.optional_operand(2))}; }},
      {"einsum", [](const Call& c) -> Results { return {einsum(c.text("equation"), c.tensors())}; }},
  };
  return table;
}

}  // namespace lumen::conformance
