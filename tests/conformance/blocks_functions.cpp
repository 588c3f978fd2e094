#include "tests/conformance/call.h"

namespace lumen::conformance {

std::span<const Function> blocks_functions() {
  static const std::vector<Function> table = {
      {"dequantise",
       [](const Call& c) -> Results {
         return {dequantise(c.x(), parse_block_type(c.text("type")).value(), c.dtype())};
       }},
  };
  return table;
}

}  // namespace lumen::conformance
