#include "lumen/codegen/contract_nibbles.h"

#include <fmt/format.h>

#include <algorithm>

#include "lumen/codegen/contract_lanes.h"
#include "lumen/hlir/cast.h"
#include "lumen/ir/expr_parts.h"

namespace lumen {

namespace {

constexpr const char* kNibbleProcessors = "defined(__AVX512VNNI__) && defined(__AVX512BW__) && defined(__AVX512VL__)";

// {N}: the kernel, {O}: the offset. What the compilers' own words for these instructions need is a header.
constexpr const char* kNibbleWords = R"(
enum {{ {N}_room = 2 }};
typedef int64_t {N}_bytes __attribute__((vector_size(64)));
typedef int32_t {N}_ints __attribute__((vector_size(64), aligned(4), may_alias));
LUMEN_FN void {N}_dot_bytes({N}_ints* sums, {N}_bytes nibbles, const int16_t* x) {{
  typedef int64_t bytes __attribute__((vector_size(64), aligned(2), may_alias));
  __asm__("vpdpbusd %2, %1, %0" : "+v"(*sums) : "v"(nibbles), "v"(*(const bytes*)x));
}}
LUMEN_FN {N}_bytes {N}_nibbles(const uint8_t* from) {{
  typedef int8_t bytes __attribute__((vector_size(16), aligned(1), may_alias));
  const int64_t low = 0x0f0f0f0f0f0f0f0f, high = (int64_t)0xf0f0f0f0f0f0f0f0u;
  const {N}_bytes kept = {{low, low, high, high, low, low, high, high}};
  {N}_bytes all;
  __asm__("vbroadcasti32x4 %1, %0" : "=v"(all) : "m"(*(const bytes*)from));
  return all & kept;
}}
LUMEN_FN {N}_sums {N}_dots({N}_sums sums, {N}_bytes nibbles, const int16_t* x, float scale) {{
  {N}_ints block = *(const {N}_ints*)(x + 32);
  {N}_dot_bytes(&block, nibbles, x);
  sums.v[0] += scale * __builtin_convertvector(block, {N}_part);
  return sums;
}}
LUMEN_FN float {N}_count({N}_sums sums) {{
  const {N}_part counts = {{1, 1, 1, 1, 1 / 16.0f, 1 / 16.0f, 1 / 16.0f, 1 / 16.0f,
                          256, 256, 256, 256, 16, 16, 16, 16}};
  sums.v[0] *= counts;
  return {N}_total(sums);
}}
// The scales of `count` blocks times those that some rows have there, `step` and `next` further on each. Put together
// one by one: of a loop gcc 12 makes twice as many instructions.
LUMEN_FN void {N}_scales(const uint16_t* from, int64_t step, int64_t count, const float* x, int64_t next, int rows,
                         float* to, int64_t room) {{
  typedef int16_t halves __attribute__((vector_size(16)));
  typedef float floats __attribute__((vector_size(32), aligned(4), may_alias));
  int64_t k = 0;
  for (; k + 8 <= count; k += 8) {{
    const uint16_t* const at = from + k * step;
    halves eight = {{(int16_t)at[0]}};
    __asm__("vpinsrw $1, %1, %0, %0" : "+x"(eight) : "m"(at[step]));
    __asm__("vpinsrw $2, %1, %0, %0" : "+x"(eight) : "m"(at[2 * step]));
    __asm__("vpinsrw $3, %1, %0, %0" : "+x"(eight) : "m"(at[3 * step]));
    __asm__("vpinsrw $4, %1, %0, %0" : "+x"(eight) : "m"(at[4 * step]));
    __asm__("vpinsrw $5, %1, %0, %0" : "+x"(eight) : "m"(at[5 * step]));
    __asm__("vpinsrw $6, %1, %0, %0" : "+x"(eight) : "m"(at[6 * step]));
    __asm__("vpinsrw $7, %1, %0, %0" : "+x"(eight) : "m"(at[7 * step]));
    floats wide;
    __asm__("vcvtph2ps %1, %0" : "=x"(wide) : "x"(eight));
    for (int r = 0; r < rows; ++r) *(floats*)(to + r * room + k) = wide * *(const floats*)(x + r * next + k);
  }}
  for (; k < count; ++k) {{
    for (int r = 0; r < rows; ++r) to[r * room + k] = lumen_load_one_f16(from[k * step]) * x[r * next + k];
  }}
}}
static void {N}_fix(const float* from, int16_t* to, float* scale) {{
  uint32_t most = 0;
  for (int k = 0; k < 32; ++k) {{
    const uint32_t size = lumen_bits_f32(from[k]) & 0x7fffffffu;
    most = size > most ? size : most;
  }}
  const int is_finite = most < 0x7f800000u;
  enum {{ bits = 14 }};
  // What would be rounded to 127.5 * 256 or more, so that a high byte were 128, is halved.
  const uint32_t above = (most + 0x10100u) >> 23, exponent = above > 16 ? above : 16;
  const float by = lumen_from_bits_f32((254 - (exponent - bits)) << 23);
  *scale = is_finite ? lumen_from_bits_f32((exponent - bits) << 23) : lumen_from_bits_f32(0x7fc00000u);
  int8_t* const bytes = (int8_t*)to;
  for (int k = 0; k < 32; ++k) {{
    const float near = from[k] * by + 12582912.0f;
    const int32_t whole = (int32_t)(lumen_bits_f32(near) - 0x4b400000u);
    const int32_t fixed = is_finite ? whole : 0, high = (fixed + 128) >> 8;
    bytes[k] = (int8_t)(fixed - high * 256);
    bytes[32 + k] = (int8_t)high;
  }}
  const int64_t ones = 0x0101010101010101;
  const {N}_bytes all = {{ones, ones, ones, ones, ones, ones, ones, ones}};
  const {N}_ints offsets = {{{O}, {O}, {O}, {O}, 16 * {O}, 16 * {O}, 16 * {O}, 16 * {O},
                           {O}, {O}, {O}, {O}, 16 * {O}, 16 * {O}, 16 * {O}, 16 * {O}}};
  {N}_ints sums = {{0}};
  {N}_dot_bytes(&sums, all, to);
  *({N}_ints*)(to + 32) = sums * offsets;
}}
)";

constexpr int64_t kNibbleBlock = 32, kNibbleBytes = kNibbleBlock / 2;
constexpr int64_t kScalesAtOnce = 64;  // of a column at a time

struct Stored {
  size_t input;
  Expr place;
};

// Where a spot lies in an input whose bytes are read as `dtype`.
std::optional<Stored> stored(const Graph& graph, const Spot& spot, DType dtype) {
  const Node& node = graph[spot.node];
  if (!node.is<hlir::Bitcast>() || node.type.dtype != dtype || !graph[node.operands[0]].is<Input>())
    return std::nullopt;
  const auto input = std::ranges::find(graph.inputs(), node.operands[0]) - graph.inputs().begin();
  const ElementWriter writer(graph, 0);
  return Stored{static_cast<size_t>(input), writer.rename(node.type.shape).flat_index(spot.at)};
}

// From one block to the next.
std::optional<Expr> step_of_blocks(Expr place) {
  const std::vector<Expr> all = variables(place);
  const auto is_block = [](Expr v) { return v.kind() == ExprKind::index && v.index_number() == 4; };
  const auto block = std::ranges::find_if(all, is_block);
  return block == all.end() ? std::nullopt : step_along(place, *block);
}

std::optional<NibbleBlocks> nibble_blocks(const Graph& graph, const ScaledRuns& runs) {
  if (!runs.one_scale || runs.faults || runs.length != kNibbleBytes || runs.turns.size() != 2) return std::nullopt;
  const ScaledRun &first = runs.turns[0], &second = runs.turns[1];
  if (first.offset != second.offset) return std::nullopt;

  const std::optional<Stored> low = stored(graph, first.integer, u4), high = stored(graph, second.integer, u4);
  if (!low || !high || low->input != high->input) return std::nullopt;
  const Expr variable = Expr::index(5, kNibbleBytes);
  const std::pair<Expr, Expr> begin[] = {{variable, Expr(0)}};
  const Expr byte = floor_div(substitute(low->place, begin), 2);
  if (low->place != (byte + variable) * 2 || high->place != (byte + variable) * 2 + 1) return std::nullopt;

  if (!graph[first.scale.node].is<hlir::Cast>()) return std::nullopt;
  const std::optional<Spot> half = under_views(graph, {graph[first.scale.node].operands[0], first.scale.at});
  const std::optional<Stored> scale = half ? stored(graph, *half, f16) : std::nullopt;
  if (!scale) return std::nullopt;
  const std::optional<Expr> step = step_of_blocks(scale->place);
  if (!step || !step->is_constant()) return std::nullopt;
  return NibbleBlocks{low->input, scale->input, byte, scale->place, *step, first.offset, first.integer};
}

}  // namespace

std::vector<NibbleBlocks> nibble_columns(std::span<const FactorIn> columns, std::span<const ScaledRuns> runs) {
  std::vector<NibbleBlocks> all;
  for (size_t side = 0; side < columns.size(); ++side) {
    const std::optional<NibbleBlocks> blocks = nibble_blocks(*columns[side].graph, runs[side]);
    if (!blocks || (!all.empty() && blocks->offset != all[0].offset)) return {};
    all.push_back(*blocks);
  }
  return all;
}

std::string nibble_words(const std::string& name, int64_t offset) {
  return fmt::format("#if {}\n{}{}#else\n{}enum {{ {}_room = 1 }};\n#endif\n", kNibbleProcessors, lane_words(name, 16),
                     fmt::format(kNibbleWords, fmt::arg("N", name), fmt::arg("O", offset)),
                     scaled_words(name, kNibbleBlock, true), name);
}

std::string nibbles_loop(const SkinnyFrame& frame, size_t side, const NibbleBlocks& blocks, int64_t count,
                         const std::string& otherwise) {
  const int64_t rows = frame.schedule.mr;
  ElementWriter reads(*frame.columns[side].graph, 0);
  reads.value(blocks.nibble.node, blocks.nibble.at);
  const std::string ahead = frame.fetch_ahead(side, reads, kNibbleBytes, kNibbleBlock);
  std::string zeros, scales, terms, stores;
  for (int64_t j = 0; j < count; ++j) {
    scales += fmt::format(
        "    {{\n      const int64_t i2 = c + {j}, i4 = from;\n      {N}_scales((const uint16_t*)a{a} + {place}, "
        "{step}, until - from, (const float*)(x + {K} * 2) + from, step / 2, {rows}, by[{j}][0], {most});\n    }}\n",
        fmt::arg("N", frame.name), fmt::arg("j", j), fmt::arg("a", blocks.scales),
        fmt::arg("place", print_c(blocks.scale).text), fmt::arg("step", print_c(blocks.step).text),
        fmt::arg("K", number(frame.depth)), fmt::arg("rows", rows), fmt::arg("most", kScalesAtOnce));
    terms += fmt::format(
        "      {{\n      const int64_t i2 = c + {j};\n{ahead}      const {N}_bytes q = {N}_nibbles((const "
        "uint8_t*)a{a} "
        "+ {place});\n",
        fmt::arg("N", frame.name), fmt::arg("j", j), fmt::arg("ahead", ahead), fmt::arg("a", blocks.integers),
        fmt::arg("place", print_c(blocks.byte).text));
    for (int64_t r = 0; r < rows; ++r) {
      zeros += fmt::format("  {}_sums s{}_{} = {{0}};\n", frame.name, r, j);
      terms +=
          fmt::format("      s{1}_{2} = {0}_dots(s{1}_{2}, q, x + {1} * step + i4 * {3}, by[{2}][{1}][i4 - from]);\n",
                      frame.name, r, j, 2 * kNibbleBlock);
      stores += fmt::format("  t[{}] = {}_count(s{}_{});\n", r * frame.schedule.nc + j, frame.name, r, j);
    }
    terms += "      }\n";
  }
  return fmt::format(
      "#if {processors}\n{zeros}  float by[{count}][{rows}][{most}] __attribute__((aligned(64)));\n"
      "  for (int64_t from = 0; from < {K} / {B}; from += {most}) {{\n"
      "    const int64_t until = from + {most} < {K} / {B} ? from + {most} : {K} / {B};\n"
      "{scales}    for (int64_t i4 = from; i4 < until; ++i4) {{\n{terms}    }}\n  "
      "}}\n{stores}#else\n{otherwise}#endif\n",
      fmt::arg("processors", kNibbleProcessors), fmt::arg("zeros", zeros), fmt::arg("count", count),
      fmt::arg("rows", rows), fmt::arg("most", kScalesAtOnce), fmt::arg("K", number(frame.depth)),
      fmt::arg("B", kNibbleBlock), fmt::arg("scales", scales), fmt::arg("terms", terms), fmt::arg("stores", stores),
      fmt::arg("otherwise", otherwise));
}

}  // namespace lumen
