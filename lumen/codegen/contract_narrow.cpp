#include "lumen/codegen/contract_narrow.h"

#include <fmt/format.h>

#include <algorithm>

#include "lumen/codegen/contract_lanes.h"
#include "lumen/codegen/contract_scaled.h"
#include "lumen/hlir/cast.h"

namespace lumen {

namespace {

constexpr int64_t kNarrowLanes = 16;

// A side that is widened halves.
std::optional<Halves> halves_of(const SkinnyFrame& frame, size_t side) {
  const Graph& graph = *frame.columns[side].graph;
  std::optional<Spot> spot = under_views(graph, {frame.columns[side].node, frame.roles.at});
  while (spot && graph[spot->node].is<hlir::Cast>() && graph[spot->node].type.dtype == f32) {
    spot = under_views(graph, {graph[spot->node].operands[0], spot->at});
  }
  if (!spot || !graph[spot->node].is<Input>()) return std::nullopt;
  const DType dtype = graph[spot->node].type.dtype;
  ElementWriter writer(graph, 0);
  writer.value(spot->node, spot->at);
  const Expr place = writer.accesses().at(0).place;
  if ((dtype != bf16 && dtype != f16) || step_of(frame.roles, place, Role::summed) != Expr(1)) return std::nullopt;
  const auto input = std::ranges::find(graph.inputs(), spot->node) - graph.inputs().begin();
  return Halves{dtype, fmt::format("a{} + {}", input, print_c(place).text)};
}

}  // namespace

std::vector<Halves> halves_of_columns(const SkinnyFrame& frame) {
  if (!frame.dots() || frame.roles.dtype != f32 || (frame.plain && frame.plain->summed == Expr(0))) return {};
  std::vector<Halves> all;
  for (size_t side = 0; side < frame.columns.size(); ++side) {
    const std::optional<Halves> found = halves_of(frame, side);
    if (!found || (side > 0 && found->dtype != all[0].dtype)) return {};
    all.push_back(*found);
  }
  return all;
}

std::string narrow_words(const std::string& name, DType dtype) {
  return lane_words(name, kNarrowLanes) + widening_words(name, dtype);
}

std::string narrow_loop(const SkinnyFrame& frame, const Halves& columns, int64_t count) {
  const ContractSchedule& s = frame.schedule;
  const std::string& element = columns.place;
  std::string sums, rows, terms, stores, rest;
  for (int64_t r = 0; r < s.mr; ++r) {
    rows += fmt::format("    const {0}_sums x{1} = {0}_load(&{2});\n", frame.name, r, frame.row_element(r, "i3"));
  }
  for (int64_t j = 0; j < count; ++j) {
    const std::string place = fmt::format("const int64_t i2 = c + {};\n", j);
    terms += fmt::format(
        "    {{\n      {0}      __builtin_prefetch((const char*)({2}) + {3});\n"
        "      const {1}_sums w = {1}_floats({2});\n",
        place, frame.name, element, kPage);
    rest += fmt::format("    {{\n      {}      const float w = lumen_load_{}(*({}));\n", place, name(columns.dtype),
                        element);
    for (int64_t r = 0; r < s.mr; ++r) {
      const std::string sum = fmt::format("s{}_{}", r, j), to = fmt::format("t[{}]", r * s.nc + j);
      sums += fmt::format("  {}_sums {} = {{0}};\n", frame.name, sum);
      terms += fmt::format("      {0} = {1}_add({0}, x{2}, w);\n", sum, frame.name, r);
      stores += fmt::format("  {} = {}_total({});\n", to, frame.name, sum);
      rest += fmt::format("      {} += {} * w;\n", to, frame.row_element(r, "i3"));
    }
    terms += "    }\n";
    rest += "    }\n";
  }
  return fmt::format(
      "{0}  int64_t i3 = 0;\n  for (; i3 + {1} <= {2}; i3 += {1}) {{\n{3}{4}  }}\n{5}"
      "  for (; i3 < {2}; ++i3) {{\n{6}  }}\n",
      sums, kNarrowLanes, number(frame.depth), rows, terms, stores, rest);
}

}  // namespace lumen
