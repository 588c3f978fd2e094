#include "tests/conformance/call.h"

namespace lumen::conformance {

namespace {

hlir::ScatterMode mode_of(const Call& c) {
  const std::string spelling = c.text("mode");
  for (const auto& [mode, name] : EnumNames<hlir::ScatterMode>::values) {
    if (name == spelling) return mode;
  }
  throw Error(error("argument `mode`: no mode " + spelling));
}

auto write_slices(Tensor (*f)(const Operand&, int64_t, const Operand&, const Operand&)) {
  return [f](const Call& c) -> Results { return {f(c.x(), c.integer("axis"), c.operand(1), c.operand(2))}; };
}

auto read_along(Tensor (*f)(const Operand&, int64_t, const Operand&)) {
  return [f](const Call& c) -> Results { return {f(c.x(), c.integer("axis"), c.operand(1))}; };
}

}  // namespace

std::span<const Function> indexing_functions() {
  static const std::vector<Function> table = {
      {"gather", binary(gather)},
      {"scatter", [](const Call& c) -> Results { return {scatter(c.x(), c.operand(1), c.operand(2), mode_of(c))}; }},
      {"index_select", read_along(index_select)},
      {"index_add", write_slices(index_add)},
      {"index_copy", write_slices(index_copy)},
      {"take_along_axis",
       [](const Call& c) -> Results { return {take_along_axis(c.x(), c.operand(1), c.integer("axis"))}; }},
      {"gather_elements", read_along(gather_elements)},
      {"scatter_elements",
       [](const Call& c) -> Results {
         return {scatter_elements(c.x(), c.integer("axis"), c.operand(1), c.operand(2), mode_of(c))};
       }},
      {"gather_nd", binary(gather_nd)},
      {"scatter_nd",
       [](const Call& c) -> Results { return {scatter_nd(c.x(), c.operand(1), c.operand(2), mode_of(c))}; }},
      {"embedding", binary(embedding)},
      {"one_hot", [](const Call& c) -> Results { return {one_hot(c.x(), c.integer("classes"), c.dtype())}; }},
      {"slice_scatter",
       [](const Call& c) -> Results {
         return {slice_scatter(c.x(), c.operand(1), c.integer("axis"), c.integer("start"))};
       }},
  };
  return table;
}

}  // namespace lumen::conformance
