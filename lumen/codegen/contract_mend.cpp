#include "lumen/codegen/contract_mend.h"

#include <fmt/format.h>

#include "lumen/codegen/element.h"
#include "lumen/codegen/kernel_text.h"

namespace lumen {

namespace {

// Which lanes of a factor have numbers that are too small: "small_rows[i1 - m]".
Expected<std::string> find_small(const ContractRoles& roles, NodeId factor, Role lane) {
  ElementWriter writer(*roles.graph, 8);
  const std::string value = writer.value(factor, roles.at);
  if (!writer.problem().empty()) return error(writer.problem());
  const bool row = lane == Role::row;
  return fmt::format(
      "    for (int64_t {i} = {first}; {i} < {first} + {count}; ++{i}) {{\n"
      "      uint32_t found = 0;\n"
      "      LUMEN_FOLD(i3, {K}, reduction(| : fault) reduction(| : found)) {{\n{text}"
      "        const float x = __builtin_fabsf({value});\n"
      "        found |= (uint32_t)(x > 0.0f) & (uint32_t)(x < 0x1p-50f);\n"
      "      }}\n      small_{count}[{i} - {first}] = (uint8_t)found;\n    }}\n",
      fmt::arg("i", row ? "i1" : "i2"), fmt::arg("first", row ? "m" : "c"), fmt::arg("count", row ? "rows" : "columns"),
      fmt::arg("K", print_c(roles.extent(Role::summed)).text), fmt::arg("text", writer.text()),
      fmt::arg("value", value));
}

}  // namespace

Expected<std::string> print_mend(const ContractRoles& roles, NodeId column, const std::string& function, int64_t mr,
                                 int64_t nr) {
  ElementWriter writer(*roles.graph, 6);
  const std::string x = writer.value(roles.rows, roles.at), y = writer.value(column, roles.at);
  if (!writer.problem().empty()) return error(writer.problem());
  const std::string small =
      LUMEN_TRY(find_small(roles, roles.rows, Role::row)) + LUMEN_TRY(find_small(roles, column, Role::column));
  return fmt::format(
      "static __attribute__((noinline)) void {f}(const void* const* in, void* const* out, const int64_t* dims, int64_t "
      "i0, int64_t m, int64_t rows, int64_t c, int64_t columns, float* t, int64_t step) {{\n"
      "{names}  int64_t fault = 0;\n"
      "  uint32_t odd = 0, small = 0;\n"
      "  for (int64_t i = 0; i < rows; ++i) {{\n"
      "    LUMEN_FOLD(l, columns, reduction(| : odd) reduction(| : small)) {{\n"
      "      const float x = __builtin_fabsf(t[i * step + l]);\n"
      "      odd |= !(x <= 0x1.fffffep127f);\n      small |= x < 0x1p-75f;\n    }}\n  }}\n"
      "  if ((odd | small) == 0) return;\n"
      "  uint8_t small_rows[{mr}] = {{0}}, small_columns[{nr}] = {{0}};\n"
      "  if (small != 0) {{\n{find}  }}\n"
      "  for (int64_t i1 = m; i1 < m + rows; ++i1) for (int64_t i2 = c; i2 < c + columns; ++i2) {{\n"
      "    float* const sum = t + (i1 - m) * step + i2 - c;\n"
      "    const int lost = __builtin_fabsf(*sum) < 0x1p-75f && (small_rows[i1 - m] | small_columns[i2 - c]) != 0;\n"
      "    if (*sum - *sum == 0.0f && !lost) continue;\n"
      "    *sum = 0.0f;\n"
      "    for (int64_t i3 = 0; i3 < {K}; ++i3) {{\n{text}      *sum += {x} * {y};\n    }}\n  }}\n}}\n",
      fmt::arg("f", function), fmt::arg("names", kernel_names(*roles.graph)), fmt::arg("mr", mr), fmt::arg("nr", nr),
      fmt::arg("find", small), fmt::arg("K", print_c(roles.extent(Role::summed)).text), fmt::arg("text", writer.text()),
      fmt::arg("x", x), fmt::arg("y", y));
}

}  // namespace lumen
