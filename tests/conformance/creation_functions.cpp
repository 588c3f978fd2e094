#include "tests/conformance/call.h"

namespace lumen::conformance {

namespace {

Results constant_either(const Call& c) {
  if (c.has("values")) return {constant(c.graph(), c.integers("shape"), c.reals("values"), c.dtype())};
  return {constant(c.graph(), Scalar::of(c.dtype(), c.real("value")))};
}

Results arange_either(const Call& c) {
  if (!c.has("start")) return {arange(c.graph(), c.integer("end"), c.dtype())};
  return {arange(c.graph(), c.integer("start"), c.integer("end"), c.integer("step"), c.dtype())};
}

Results iota_of_text(const Call& c) {
  const Shape shape(c.integers("shape"));
  const std::string value = c.text("value");
  std::string_view rest = value;
  const ExprScope scope{[](std::string_view) { return std::optional<Expr>(); }, shape.dims()};
  const Expr index = parse_expr(rest, scope).value();
  if (!rest.empty()) throw Error(error("argument `value`: cannot read " + std::string(rest)));
  return {iota(c.graph(), shape, index, c.dtype())};
}

}  // namespace

std::span<const Function> creation_functions() {
  static const std::vector<Function> table = {
      {"full", [](const Call& c) -> Results { return {full(c.graph(), c.integers("shape"), c.x(), c.dtype())}; }},
      {"zeros", [](const Call& c) -> Results { return {zeros(c.graph(), c.integers("shape"), c.dtype())}; }},
      {"ones", [](const Call& c) -> Results { return {ones(c.graph(), c.integers("shape"), c.dtype())}; }},
      {"full_like", binary(full_like)},
      {"zeros_like", unary(zeros_like)},
      {"ones_like", unary(ones_like)},
      {"constant", constant_either},
      {"iota", iota_of_text},
      {"arange", arange_either},
      {"linspace",
       [](const Call& c) -> Results {
         return {linspace(c.graph(), c.real("start"), c.real("end"), c.integer("steps"), c.dtype())};
       }},
      {"eye",
       [](const Call& c) -> Results { return {eye(c.graph(), c.integer("rows"), c.integer("columns"), c.dtype())}; }},
      {"tril", [](const Call& c) -> Results { return {tril(c.x(), c.integer("diagonal"))}; }},
      {"triu", [](const Call& c) -> Results { return {triu(c.x(), c.integer("diagonal"))}; }},
  };
  return table;
}

}  // namespace lumen::conformance
