#include "lumen/codegen/contract_narrow.h"

#include <fmt/format.h>

#include <algorithm>

#include "lumen/codegen/contract_lanes.h"
#include "lumen/codegen/contract_scaled.h"
#include "lumen/hlir/cast.h"

namespace lumen {

namespace {

constexpr int64_t kNarrowLanes = 16;

// A side that is widened from a narrow input.
std::optional<NarrowColumns> columns_of(const SkinnyFrame& frame, size_t side) {
  const Graph& graph = *frame.columns[side].graph;
  const DType wide = frame.roles.dtype;
  std::optional<Spot> spot = under_views(graph, {frame.columns[side].node, frame.roles.at});
  while (spot && graph[spot->node].is<hlir::Cast>() && graph[spot->node].type.dtype == wide) {
    spot = under_views(graph, {graph[spot->node].operands[0], spot->at});
  }
  if (!spot || !graph[spot->node].is<Input>()) return std::nullopt;
  const DType dtype = graph[spot->node].type.dtype;
  ElementWriter writer(graph, 0);
  writer.value(spot->node, spot->at);
  const Expr place = writer.accesses().at(0).place;
  const bool is_narrow = wide == f32 ? dtype == bf16 || dtype == f16 : dtype == i8 || dtype == u8;
  if (!is_narrow || step_of(frame.roles, place, Role::summed) != Expr(1)) return std::nullopt;
  const auto input = std::ranges::find(graph.inputs(), spot->node) - graph.inputs().begin();
  return NarrowColumns{dtype, fmt::format("a{} + {}", input, print_c(place).text)};
}

// {N}: the kernel; {T}: what lies there, widened by {W} on x86-64 and by {A} on AArch64. Pairs of products of 16 bits
// are what processors add up in one go; gcc 12 sees that only where both sides are 16 bits in memory.
constexpr const char* kByteWords = R"(
#if defined(__AVX512BW__)
enum {{ {N}_step = 32 }};
#elif defined(__AVX2__)
enum {{ {N}_step = 16 }};
#else
enum {{ {N}_step = 8 }};
#endif
typedef int16_t {N}_shorts __attribute__((vector_size({N}_step * 2), aligned(2), may_alias));
typedef uint32_t {N}_sums __attribute__((vector_size({N}_step * 2)));
LUMEN_FN {N}_shorts {N}_widen(const {T}* from) {{
  {N}_shorts wide;
  typedef {T} bytes __attribute__((vector_size({N}_step), aligned(1), may_alias));
#if defined(__AVX2__)
  __asm__("{W} %1, %0" : "=v"(wide) : "m"(*(const bytes*)from));
#elif defined(__aarch64__)
  __asm__("{A} %0.8h, %1.8b" : "=w"(wide) : "w"(*(const bytes*)from));
#else
  for (int l = 0; l < {N}_step; ++l) wide[l] = from[l];
#endif
  return wide;
}}
LUMEN_FN {N}_sums {N}_add({N}_sums s, const int16_t* x, {N}_shorts w) {{
  const {N}_shorts row = *(const {N}_shorts*)x;
#if defined(__AVX512VNNI__) && defined(__AVX512VL__)
  __asm__("vpdpwssd %2, %1, %0" : "+v"(s) : "v"(w), "v"(row));
#elif defined(__AVX2__)
  {N}_sums pairs;
  __asm__("vpmaddwd %2, %1, %0" : "=v"(pairs) : "v"(w), "v"(row));
  s += pairs;
#elif defined(__aarch64__)
  __asm__("smlal %0.4s, %1.4h, %2.4h" : "+w"(s) : "w"(w), "w"(row));
  __asm__("smlal2 %0.4s, %1.8h, %2.8h" : "+w"(s) : "w"(w), "w"(row));
#else
  for (int l = 0; l < {N}_step; ++l) s[l / 2] += (uint32_t)(w[l] * row[l]);
#endif
  return s;
}}
LUMEN_FN uint32_t {N}_total({N}_sums s) {{
  uint32_t total = 0;
  for (int l = 0; l < {N}_step / 2; ++l) total += s[l];
  return total;
}}
)";

// How the loop of either kind spells it: elements of a turn; a row's for it; a column's; one of these alone.
struct LoopWords {
  std::string step, row, column, one, type;
};
LoopWords loop_words(const std::string& name, const NarrowColumns& columns) {
  if (columns.are_bytes()) return {name + "_step", "{}", name + "_shorts w = " + name + "_widen", "", "int32_t"};
  return {std::to_string(kNarrowLanes), name + "_load({})", name + "_sums w = " + name + "_floats",
          fmt::format("lumen_load_{}", lumen::name(columns.dtype)), "float"};
}

// A page further on in a column; where that is in one of the others that are read beside it, in those that follow them.
int64_t bytes_ahead(const SkinnyFrame& frame, DType dtype, int64_t count) {
  if (!frame.depth.is_constant()) return kPage;
  const int64_t column = *frame.depth.constant() * info(dtype).bits / 8;
  return column <= kPage && count * column > kPage ? kPage + (count - 1) * column : kPage;
}

}  // namespace

std::vector<NarrowColumns> narrow_columns(const SkinnyFrame& frame) {
  if (!frame.dots() || (frame.plain && frame.plain->summed == Expr(0))) return {};
  if (frame.roles.dtype == i32) {
    const std::optional<NarrowFactor> rows = narrow_factor(frame.roles, frame.roles.rows);
    if (!rows || frame.plain) return {};
  } else if (frame.roles.dtype != f32) {
    return {};
  }
  std::vector<NarrowColumns> all;
  for (size_t side = 0; side < frame.columns.size(); ++side) {
    const std::optional<NarrowColumns> found = columns_of(frame, side);
    if (!found || (side > 0 && found->dtype != all[0].dtype)) return {};
    all.push_back(*found);
  }
  return all;
}

std::string narrow_words(const std::string& name, DType dtype) {
  if (dtype != i8 && dtype != u8) return lane_words(name, kNarrowLanes) + widening_words(name, dtype);
  return fmt::format(kByteWords, fmt::arg("N", name), fmt::arg("T", dtype == i8 ? "int8_t" : "uint8_t"),
                     fmt::arg("W", dtype == i8 ? "vpmovsxbw" : "vpmovzxbw"),
                     fmt::arg("A", dtype == i8 ? "sxtl" : "uxtl"));
}

std::string narrow_loop(const SkinnyFrame& frame, const NarrowColumns& columns, int64_t count) {
  const ContractSchedule& s = frame.schedule;
  const LoopWords words = loop_words(frame.name, columns);
  const std::string& element = columns.place;
  std::string sums, rows, terms, stores, rest;
  for (int64_t r = 0; r < s.mr; ++r) {
    const std::string place = "&" + frame.row_element(r, "i3");
    rows += fmt::format("    const {} x{} = {};\n", columns.are_bytes() ? "int16_t* const" : frame.name + "_sums", r,
                        fmt::format(fmt::runtime(words.row), place));
  }
  for (int64_t j = 0; j < count; ++j) {
    const std::string place = fmt::format("const int64_t i2 = c + {};\n", j);
    terms +=
        fmt::format("    {{\n      {0}      __builtin_prefetch((const char*)({2}) + {3});\n      const {1}({2});\n",
                    place, words.column, element, bytes_ahead(frame, columns.dtype, count));
    rest += fmt::format("    {{\n      {}      const {} w = {}(*({}));\n", place, words.type, words.one, element);
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
      sums, words.step, number(frame.depth), rows, terms, stores, rest);
}

}  // namespace lumen
