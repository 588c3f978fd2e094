#include "tests/conformance/call.h"

namespace lumen::conformance {

namespace {

Results both(const ValuesAndIndices& result) { return {result.values, result.indices}; }

}  // namespace

std::span<const Function> sorting_functions() {
  static const std::vector<Function> table = {
      {"sort", [](const Call& c) -> Results { return both(sort(c.x(), c.integer("axis"), c.flag("descending"))); }},
      {"argsort", [](const Call& c) -> Results { return {argsort(c.x(), c.integer("axis"), c.flag("descending"))}; }},
      {"topk",
       [](const Call& c) -> Results {
         return both(topk(c.x(), c.integer("k"), c.integer("axis"), c.flag("largest")));
       }},
      {"median", [](const Call& c) -> Results { return both(median(c.x(), c.integer("axis"))); }},
  };
  return table;
}

}  // namespace lumen::conformance
