#include "lumen/frontend/promote.h"
#include "tests/conformance/call.h"

namespace lumen::conformance {

std::span<const Function> promotion_functions() {
  static const std::vector<Function> table = {
      {"promote",
       [](const Call& c) -> Results { return {zeros(c.graph(), {1}, promote(c.dtype("a"), c.dtype("b")))}; }},
      {"broadcast_shapes",
       [](const Call& c) -> Results { return {zeros(c.graph(), broadcast_shapes(c.shapes("shapes")))}; }},
      {"common_dtype", [](const Call& c) -> Results { return {zeros(c.graph(), {1}, common_dtype(c.operands()))}; }},
      {"float_dtype", [](const Call& c) -> Results { return {zeros(c.graph(), {1}, float_dtype(c.operands()))}; }},
      {"promote_to_floats", [](const Call& c) -> Results { return promote_to_floats(c.operands(), c.dtype()); }},
      {"promote_only", [](const Call& c) -> Results { return promote_only(c.operands()); }},
      {"promote_and_broadcast", [](const Call& c) -> Results { return promote_and_broadcast(c.operands()); }},
  };
  return table;
}

}  // namespace lumen::conformance
