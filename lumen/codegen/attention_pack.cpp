#include "lumen/codegen/attention_pack.h"

#include <fmt/format.h>

#include <algorithm>

#include "lumen/codegen/contract_pack.h"
#include "lumen/codegen/element.h"
#include "lumen/codegen/kernel_text.h"

namespace lumen {

namespace {

Packing packing_of(const std::string& function, const HeldFactor& held, Role lane, const AttentionPacking& given) {
  Packing p;
  p.function = function;
  p.graph = held.graph.get();
  p.factor = held.node;
  p.convert = held.convert;
  p.plain = held.plain;
  p.along_summed = held.along_summed;
  p.lane = lane;
  p.lanes = given.lanes;
  p.group = given.types.group;
  p.multiple = given.types.depth;
  p.type = given.types.packed;
  p.vector_bytes = given.vector_bytes;
  return p;
}

// Two values of a lane that follow each other are one word: rows of values are read as they lie.
Expected<std::string> print_pairs(const AttentionForm& form, const std::string& function, const HeldFactor& held,
                                  int64_t lanes, std::vector<std::string>& faults) {
  ElementWriter writer(*held.graph, 8);
  const std::string element = writer.converted(held.convert, held.node, form.second.at);
  if (!writer.problem().empty()) return error(writer.problem());
  const auto part = [&](std::string_view name, std::string_view key) {
    return fmt::format(
        "      uint32_t {0};\n      {{\n        const int64_t i3 = {1};\n{2}        {0} = {3};\n      }}\n", name, key,
        writer.text(), element);
  };
  const std::string text = fmt::format(
      "static __attribute__((noinline)) int64_t {f}(const void* const* in, void* const* out, const int64_t* dims, "
      "uint16_t* to, int64_t i0, int64_t first, int64_t k0, int64_t k1) {{\n{names}  int64_t fault = 0;\n"
      "  const int64_t left = {columns} - first, have = left < {P} ? left : {P};\n"
      "  const int64_t padded = (k1 - k0 + 31) / 32 * 32;\n"
      "  for (int64_t k = k0; k < k0 + padded; k += 2, to += 2 * {P}) {{\n"
      "    const int64_t count = k < k1 ? have : 0;\n"
      "    const int64_t last = k + 1 < k1 ? k + 1 : k;\n"
      "    const uint32_t both = last > k ? 0xffffffffu : 0xffffu;\n"
      "    uint32_t* const put = (uint32_t*)to;\n"
      "    LUMEN_ELEMENTS(l, count) {{\n      const int64_t i2 = first + l;\n{low}{high}"
      "      put[l] = (low | high << 16) & both;\n    }}\n"
      "    for (int64_t l = count; l < {P}; ++l) put[l] = 0;\n  }}\n"
      "  return {number};\n}}\n",
      fmt::arg("f", function), fmt::arg("names", kernel_names(*held.graph)), fmt::arg("P", lanes),
      fmt::arg("columns", number(form.second.extent(Role::column))), fmt::arg("low", part("low", "k")),
      fmt::arg("high", part("high", "last")), fmt::arg("number", fault_number(faults.size())));
  faults.insert(faults.end(), writer.faults().begin(), writer.faults().end());
  return text;
}

}  // namespace

Expected<std::string> print_key_packing(const AttentionForm& form, const std::string& function,
                                        const AttentionPacking& packing, std::vector<std::string>& faults) {
  const HeldFactor held = held_factor(form.first, form.first.columns[0], Role::column, packing.narrow);
  return print_packing(form.first, packing_of(function, held, Role::column, packing), faults);
}

Expected<std::string> print_value_packing(const AttentionForm& form, const std::string& function,
                                          const AttentionPacking& packing, std::vector<std::string>& faults) {
  const HeldFactor held = held_factor(form.second, form.second.columns[0], Role::column, packing.narrow);
  if (packing.narrow && !held.along_summed) return print_pairs(form, function, held, packing.lanes, faults);
  return print_packing(form.second, packing_of(function, held, Role::column, packing), faults);
}

Expected<std::string> print_query_packing(const AttentionForm& form, const std::string& function,
                                          const AttentionPacking& packing, int64_t rows,
                                          std::vector<std::string>& faults) {
  const HeldFactor held = held_factor(form.first, form.first.rows, Role::row, packing.narrow);
  Packing p = packing_of(function, held, Role::row, packing);
  const int64_t depth = *form.first.extent(Role::summed).constant(), unit = packing.types.depth;
  p.lanes = rows;
  p.depth = p.multiple = std::max(unit, (depth + unit - 1) / unit * unit);
  return print_packing(form.first, p, faults);
}

bool fits_matrix_unit(const AttentionForm& form, const Target& target) {
  const std::optional<TileTypes> first = matrix_types(form.first, target);
  const std::optional<NarrowFactor> values = narrow_factor(form.second, form.second.columns[0]);
  return first && first->packed == "uint16_t" && values && values->dtype == bf16 &&
         std::ranges::all_of(form.graph->outputs(),
                             [&](const Output& output) { return (*form.graph)[output.value].type.dtype == bf16; });
}

}  // namespace lumen
