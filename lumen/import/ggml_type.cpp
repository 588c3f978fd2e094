#include "lumen/import/ggml_type.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace lumen {

namespace {

struct Row {
  uint32_t number;
  std::string_view name;
  std::optional<StorageType> type;
};

constexpr std::array<Row, 38> kRows = {{
    {0, "F32", DType::f32},
    {1, "F16", DType::f16},
    {2, "Q4_0", BlockType::q4_0},
    {3, "Q4_1", BlockType::q4_1},
    {6, "Q5_0", BlockType::q5_0},
    {7, "Q5_1", BlockType::q5_1},
    {8, "Q8_0", BlockType::q8_0},
    {9, "Q8_1", {}},
    {10, "Q2_K", BlockType::q2_k},
    {11, "Q3_K", BlockType::q3_k},
    {12, "Q4_K", BlockType::q4_k},
    {13, "Q5_K", BlockType::q5_k},
    {14, "Q6_K", BlockType::q6_k},
    {15, "Q8_K", {}},
    {16, "IQ2_XXS", {}},
    {17, "IQ2_XS", {}},
    {18, "IQ3_XXS", {}},
    {19, "IQ1_S", {}},
    {20, "IQ4_NL", {}},
    {21, "IQ3_S", {}},
    {22, "IQ2_S", {}},
    {23, "IQ4_XS", {}},
    {24, "I8", DType::i8},
    {25, "I16", DType::i16},
    {26, "I32", DType::i32},
    {27, "I64", DType::i64},
    {28, "F64", DType::f64},
    {29, "IQ1_M", {}},
    {30, "BF16", DType::bf16},
    {31, "Q4_0_4_4", {}},
    {32, "Q4_0_4_8", {}},
    {33, "Q4_0_8_8", {}},
    {34, "TQ1_0", {}},
    {35, "TQ2_0", {}},
    {36, "IQ4_NL_4_4", {}},
    {39, "MXFP4", BlockType::mxfp4},
    {40, "NVFP4", {}},
    {41, "Q1_0", {}},
}};

struct ValueRow {
  std::string_view name;
  int64_t width;
};

constexpr std::array<ValueRow, kGgufTypes> kValueRows = {{
    {"u8", 1},
    {"i8", 1},
    {"u16", 2},
    {"i16", 2},
    {"u32", 4},
    {"i32", 4},
    {"f32", 4},
    {"bool", 1},
    {"string", 8},
    {"array", 12},
    {"u64", 8},
    {"i64", 8},
    {"f64", 8},
}};

const Row* find(GgmlType type) {
  const auto found = std::find_if(kRows.begin(), kRows.end(),
                                  [&](const Row& row) { return row.number == static_cast<uint32_t>(type); });
  return found == kRows.end() ? nullptr : &*found;
}

}  // namespace

std::string name(GgmlType type) {
  const Row* const row = find(type);
  return row != nullptr ? std::string(row->name) : fmt::format("type {}", static_cast<uint32_t>(type));
}

std::optional<StorageType> storage_type(GgmlType type) {
  const Row* const row = find(type);
  return row != nullptr ? row->type : std::nullopt;
}

std::optional<GgmlType> ggml_type(const StorageType& type) {
  const auto found = std::find_if(kRows.begin(), kRows.end(), [&](const Row& row) { return row.type == type; });
  return found == kRows.end() ? std::nullopt : std::optional(static_cast<GgmlType>(found->number));
}

std::string_view name(GgufType type) { return kValueRows[static_cast<size_t>(type)].name; }

int64_t width(GgufType type) { return kValueRows[static_cast<size_t>(type)].width; }

}  // namespace lumen
