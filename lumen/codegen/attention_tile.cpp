#include "lumen/codegen/attention_tile.h"

#include <fmt/format.h>

namespace lumen {

std::string print_row_tile(const RowTile& tile) {
  const int64_t lanes = tile.vector_bytes / 4, vectors = tile.columns / lanes;
  const auto each = [&](auto&& line) {
    std::string text;
    for (int64_t i = 0; i < tile.rows; ++i) {
      for (int64_t j = 0; j < vectors; ++j) text += line(i, j);
    }
    return text;
  };
  std::string text = fmt::format(
      "typedef float {0}_v __attribute__((vector_size({1}), aligned(4), may_alias));\n"
      "static __attribute__((noinline)) void {0}(int64_t count, const float* a, const float* b, float* t) {{\n",
      tile.name, tile.vector_bytes);
  const auto place = [&](int64_t i, int64_t j) {
    return fmt::format("*({}_v*)(t + {})", tile.name, i * tile.t_step + j * lanes);
  };
  text += each([&](int64_t i, int64_t j) {
    return fmt::format("  {}_v c{}_{} = {};\n", tile.name, i, j, tile.adds ? place(i, j) : "{0}");
  });
  text += fmt::format("  for (int64_t k = 0; k < count; ++k, a += 1, b += {}) {{\n", tile.columns);
  for (int64_t j = 0; j < vectors; ++j) {
    text += fmt::format("    const {0}_v b{1} = *(const {0}_v*)(b + {2});\n", tile.name, j, j * lanes);
  }
  text += each(
      [&](int64_t i, int64_t j) { return fmt::format("    c{0}_{1} += a[{2}] * b{1};\n", i, j, i * tile.a_step); });
  text += "  }\n" + each([&](int64_t i, int64_t j) { return fmt::format("  {} = c{}_{};\n", place(i, j), i, j); });
  return text + "}\n";
}

}  // namespace lumen
