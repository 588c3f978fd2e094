#include "lumen/codegen/contract_tile.h"

#include <fmt/format.h>

#include <vector>

namespace lumen {

namespace {

template <class Fn>
std::string each(int64_t rows, int64_t columns, Fn&& fn) {
  std::string text;
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < columns; ++j) text += fn(i, j);
  }
  return text;
}

constexpr int kLineBytes = 64;
constexpr int64_t kFetchedAhead = 2048;  // bytes

bool is_x86_quad(const TileTypes& types) { return types.product == "vpdpbusd"; }

// Of flipped columns a tile has 128 times the sum of each row too much, or too little: `extra` is that, by eight rows.
constexpr int64_t kExtraRows = 8;

std::string extra_names(int64_t rows) {
  std::string text = fmt::format(
      "  typedef int32_t extra_of __attribute__((vector_size({}), aligned(4), may_alias));\n"
      "  const extra_of high = (int32_t)0x80808080 - (extra_of){{0}};\n",
      4 * kExtraRows);
  for (int64_t i = 0; i < rows; i += kExtraRows) text += fmt::format("  extra_of extra{} = {{0}};\n", i);
  return text;
}

// c += the four products of each lane of bytes without a sign and bytes with one.
std::string x86_quad(std::string_view c, std::string_view without, std::string_view with) {
  return fmt::format("    __asm__(\"vpdpbusd %2, %1, %0\" : \"+v\"({}) : \"v\"({}), \"v\"({}));\n", c, without, with);
}

std::string x86_quads(const std::string& name, const TileTypes& types, int64_t rows, int64_t columns) {
  std::string text;
  const auto add = [&](const std::string& c, const std::string& row, const std::string& column) {
    text += types.rows_have_sign ? x86_quad(c, column, row) : x86_quad(c, row, column);
  };
  for (int64_t i = 0; i < rows; ++i) {
    if (types.flipped && i % kExtraRows == 0) {
      add(fmt::format("extra{}", i), fmt::format("*(const extra_of*)(a + {})", 4 * i), "high");
    }
    text += fmt::format("    const {0}_v a{1} = *(const {0}_word*)(a + {2}) - ({0}_v){{0}};\n", name, i, 4 * i);
    for (int64_t j = 0; j < columns; ++j) {
      add(fmt::format("c{}_{}", i, j), fmt::format("a{}", i), fmt::format("b{}", j));
    }
  }
  return text;
}

}  // namespace

int64_t tile_rows(const TileTypes& types, int64_t lanes) {
  return types.product.empty() ? 1 : !is_x86_quad(types) ? lanes : types.flipped ? kExtraRows : 1;
}

std::string print_vector_tile(const std::string& name, const TileTypes& types, const ContractSchedule& schedule,
                              int vector_bytes, const TileSteps& steps) {
  const int64_t lanes = vector_bytes / types.sum_bytes;
  const int64_t rows = schedule.mr, columns = schedule.nr / lanes;
  std::string text = fmt::format(
      "typedef {1} {0}_v __attribute__((vector_size({2}), aligned({3}), may_alias));\n"
      "typedef {1} {0}_word __attribute__((aligned(1), may_alias));\n"
      "static __attribute__((noinline)) void {0}(int64_t count, const {4}* a, const {4}* b, {1}* t, int64_t step, int "
      "fresh{5}) {{\n",
      name, types.sum, vector_bytes, types.sum_bytes, types.packed, steps.places ? ", const int32_t* places" : "");
  // Columns of summed coordinate k + l.
  const auto columns_at = [&](int64_t l) {
    return steps.places ? fmt::format("b + places[k + {}]", l) : fmt::format("b + {}", l * steps.column_summed);
  };
  const auto place = [&](int64_t i, int64_t j) { return fmt::format("{} * step + {}", i, j * lanes); };
  text +=
      each(rows, columns, [&](int64_t i, int64_t j) { return fmt::format("  {0}_v c{1}_{2} = {{0}};\n", name, i, j); });
  // Where sums go, to those so far or to what was never read, is fetched while they are made.
  text += each(rows, columns,
               [&](int64_t i, int64_t j) { return fmt::format("  __builtin_prefetch(t + {}, 1);\n", place(i, j)); });
  text += "  int64_t k = 0;\n";
  if (types.flipped) text += extra_names(rows);
  // Elements of a row that lie together are loaded together, for as many columns.
  if (steps.by_lanes && steps.row_summed == 1) {
    text += fmt::format("  for (; k + {0} <= count; k += {0}, a += {0}, b += {1}) {{\n", lanes,
                        lanes * steps.column_summed);
    for (int64_t i = 0; i < rows; ++i) {
      text += fmt::format("    const {0}_v a{1} = *(const {0}_v*)(a + {2});\n", name, i, i * steps.row);
    }
    for (int64_t l = 0; l < lanes; ++l) {
      text += each(1, columns, [&](int64_t, int64_t j) {
        return fmt::format("    const {0}_v b{1}_{2} = *(const {0}_v*)({3} + {4});\n", name, l, j, columns_at(l),
                           j * lanes);
      });
      text += each(rows, columns, [&](int64_t i, int64_t j) {
        return fmt::format("    c{0}_{1} += a{0}[{2}] * b{2}_{1};\n", i, j, l);
      });
    }
    text += "  }\n";
  }
  text += fmt::format("  for (; k < count; k += {}, a += {}, b += {}) {{\n", types.depth, steps.row_summed,
                      steps.column_summed);
  for (int64_t j = 0; j < columns; ++j) {
    text += fmt::format("    const {0}_v b{1} = *(const {0}_v*)({2} + {3});\n", name, j, columns_at(0),
                        j * lanes * types.group);
  }
  // Places follow no order that a processor foresees.
  for (int64_t j = 0; j <= columns && steps.places; ++j) {
    text += fmt::format("    __builtin_prefetch(b + places[k + {}] + {});\n", kPlacesAhead, j * lanes);
  }
  // Packed columns lie in the second cache.
  const bool fetches = vector_bytes == kLineBytes && steps.column_summed == schedule.nr * types.depth;
  for (int64_t j = 0; j < columns && fetches; ++j) {
    text += fmt::format("    __builtin_prefetch(b + {});\n",
                        kFetchedAhead * types.group / types.sum_bytes + j * lanes * types.group);
  }
  // A load for each row would be more than half as many as there are products.
  const int64_t in_vectors = steps.by_lanes && steps.row == 1 ? rows / lanes * lanes : 0;
  for (int64_t i = 0; i < in_vectors; i += lanes) {
    text += fmt::format("    const {0}_v a{1} = *(const {0}_v*)(a + {2});\n", name, i, i * types.group);
  }
  if (is_x86_quad(types)) text += x86_quads(name, types, rows, columns);
  text += each(rows, columns, [&](int64_t i, int64_t j) {
    if (is_x86_quad(types)) return std::string();
    if (!types.product.empty()) {
      return fmt::format("    __asm__(\"{} %0.4s, %1.16b, %2.4b[{}]\" : \"+w\"(c{}_{}) : \"w\"(b{}), \"w\"(a{}));\n",
                         types.product, i % lanes, i, j, j, i / lanes * lanes);
    }
    const std::string row =
        i < in_vectors ? fmt::format("a{}[{}]", i / lanes * lanes, i % lanes) : fmt::format("a[{}]", i * steps.row);
    return fmt::format("    c{0}_{1} += {2} * b{1};\n", i, j, row);
  });
  text += "  }\n  if (!fresh) {\n" + each(rows, columns, [&](int64_t i, int64_t j) {
            return fmt::format("    c{1}_{2} += *(const {0}_v*)(t + {3});\n", name, i, j, place(i, j));
          });
  text += "  }\n" + each(rows, columns, [&](int64_t i, int64_t j) {
            const std::string less =
                types.flipped ? fmt::format(" - extra{}[{}]", i / kExtraRows * kExtraRows, i % kExtraRows) : "";
            return fmt::format("  *({0}_v*)(t + {3}) = c{1}_{2}{4};\n", name, i, j, place(i, j), less);
          });
  return text + "}\n";
}

namespace {

// The numbers of tile registers: sums, then rows, then columns.
struct TileNumbers {
  int64_t rows, columns;  // of registers
  int64_t sum(int64_t i, int64_t j) const { return i * columns + j; }
  int64_t row(int64_t i) const { return rows * columns + i; }
  int64_t column(int64_t j) const { return rows * columns + rows + j; }
};

std::string load(int64_t tile, const std::string& from, const std::string& step,
                 std::string_view instruction = "tileloadd") {
  return fmt::format("__asm__ volatile(\"{} (%0,%1,1), %%tmm{}\" : : \"r\"({}), \"r\"((int64_t)({})) : \"memory\");\n",
                     instruction, tile, from, step);
}

// Which pieces of rows and of columns are multiplied, one after the other: from one to the next only one of them is
// another, and needs loading. Products of later pieces are below the half of a unit of f32.
struct PiecePair {
  int64_t row, column;
};
std::vector<PiecePair> piece_pairs(const TileTypes& types) {
  std::vector<PiecePair> pairs;
  for (int64_t column = types.column_pieces - 1; column >= 0; --column) {
    const int64_t first = pairs.empty() ? 0 : pairs.back().row;
    pairs.push_back({first, column});
    for (int64_t row = 0; row < types.row_pieces; ++row) {
      if (row != first && row + column < 3) pairs.push_back({row, column});
    }
  }
  return pairs;
}

}  // namespace

// Written as assembly: the header with the intrinsics takes longer to compile than the kernel.
std::string print_amx_tile(const std::string& name, const TileTypes& types, const ContractSchedule& schedule,
                           const TileSteps& steps) {
  const int64_t bytes = types.sum_bytes / types.group;
  const TileNumbers tiles{schedule.mr / 16, schedule.nr / 16};
  std::string text = fmt::format(
      "static __attribute__((noinline)) void {0}(int64_t count, const {1}* a, const {1}* b, {2}* t, int64_t step, int "
      "fresh{3}) {{\n"
      "  const char* pa = (const char*)a;\n  const char* pb = (const char*)b;\n  if (fresh) {{\n",
      name, types.packed, types.sum, steps.ahead > 0 ? ", const void* next" : "");
  const auto sums = [&](auto&& fn) { return each(tiles.rows, tiles.columns, fn); };
  text += sums([&](int64_t i, int64_t j) {
    return fmt::format("    __asm__ volatile(\"tilezero %%tmm{}\" : : );\n", tiles.sum(i, j));
  });
  text += "  } else {\n" + sums([&](int64_t i, int64_t j) {
            return "    " + load(tiles.sum(i, j), fmt::format("t + {} * step + {}", i * 16, j * 16), "step * 4");
          });
  text += fmt::format("  }}\n  for (int64_t k = 0; k < count; k += {}, pa += {}, pb += {}{}) {{\n", types.depth,
                      steps.row_summed * bytes, steps.column_summed * bytes,
                      steps.ahead > 0 ? fmt::format(", next += {}", steps.ahead * 64) : "");
  const std::vector<PiecePair> pairs = piece_pairs(types);
  const int64_t products = tiles.rows * tiles.columns * std::ssize(pairs);
  // Spread over the products, of which each leaves time for a few.
  const auto fetches = [&](int64_t product) {
    std::string lines;
    for (int64_t line = product; line < steps.ahead; line += products) {
      lines += fmt::format("    __builtin_prefetch(next + {}, 0, 2);\n", line * 64);
    }
    return lines;
  };
  // Rows pass by while the columns stay: loaded as such ("t1") they leave the nearest cache to the columns, and a load
  // just before its first use waits least. Together 1.35 times as fast at 512.
  int64_t product = 0;
  PiecePair held{-1, -1};
  for (const PiecePair& pair : pairs) {
    for (int64_t i = 0; i < tiles.rows; ++i) {
      const std::string row =
          fmt::format("pa + {}", (pair.row * schedule.mr * types.depth + i * 16 * steps.row) * bytes);
      if (pair.row != held.row) {
        text += "    " + load(tiles.row(i), row, std::to_string(steps.row * bytes), "tileloaddt1");
      }
      for (int64_t j = 0; j < tiles.columns; ++j) {
        if (i == 0 && pair.column != held.column) {
          const int64_t column = pair.column * schedule.nr * types.depth * bytes + j * 64;
          text += "    " + load(tiles.column(j), fmt::format("pb + {}", column), std::to_string(schedule.nr * 4));
        }
        text += fetches(product++);
        text += fmt::format("    __asm__ volatile(\"{} %%tmm{}, %%tmm{}, %%tmm{}\" : : );\n", types.product,
                            tiles.column(j), tiles.row(i), tiles.sum(i, j));
      }
    }
    held = pair;
  }
  text += "  }\n" + sums([&](int64_t i, int64_t j) {
            return fmt::format(
                "  __asm__ volatile(\"tilestored %%tmm{}, (%0,%1,1)\" : : \"r\"(t + {} * step + {}), \"r\"(step * 4) : "
                "\"memory\");\n",
                tiles.sum(i, j), i * 16, j * 16);
          });
  return text + "}\n";
}

// Every tile has 16 rows of 64 bytes.
std::string_view amx_begin() {
  return R"C(  struct { uint8_t palette, start, reserved[14]; uint16_t bytes[16]; uint8_t rows[16]; } shape = {1};
  for (int tile = 0; tile < 8; ++tile) shape.bytes[tile] = 64, shape.rows[tile] = 16;
  __asm__ volatile("ldtilecfg %0" : : "m"(shape));
)C";
}

std::string_view amx_end() { return "  __asm__ volatile(\"tilerelease\" : : );\n"; }

}  // namespace lumen
