#include "lumen/import/convert_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "lumen/import/blocks.h"
#include "lumen/import/values.h"

namespace lumen {

namespace {

// llama.cpp's numbers for "mostly this type".
constexpr std::array kFileTypes = {
    std::pair{"f32", 0},   std::pair{"f16", 1},   std::pair{"q4_0", 2},  std::pair{"q4_1", 3},   std::pair{"q8_0", 7},
    std::pair{"q5_0", 8},  std::pair{"q5_1", 9},  std::pair{"q2_k", 10}, std::pair{"q3_k", 12},  std::pair{"q4_k", 15},
    std::pair{"q5_k", 17}, std::pair{"q6_k", 18}, std::pair{"bf16", 32}, std::pair{"mxfp4", 38},
};

bool is_matrix(std::span<const int64_t> dims) { return dims.size() >= 2; }

bool is_floating(const StorageType& type) {
  const DType* const dtype = std::get_if<DType>(&type);
  return dtype == nullptr || is_float(*dtype);
}

size_t row_bytes(const StorageType& type, size_t columns) {
  const int64_t dims[] = {static_cast<int64_t>(columns)};
  return static_cast<size_t>(stored_bytes(type, dims).value_or(0));
}

std::vector<std::byte> reordered(std::span<const std::byte> bytes, std::span<const int64_t> rows) {
  std::vector<std::byte> result(bytes.size());
  const size_t row = bytes.size() / rows.size();
  for (size_t k = 0; k < rows.size(); ++k) {
    std::memcpy(result.data() + k * row, bytes.data() + static_cast<size_t>(rows[k]) * row, row);
  }
  return result;
}

// One run of rows after another, so that the f32 values of a large matrix are never all there.
Expected<std::vector<std::byte>> restored(std::span<const std::byte> bytes, const StorageType& from,
                                          std::span<const int64_t> dims, const TensorPlan& plan) {
  constexpr size_t kCopiedAtOnce = size_t{1} << 20;
  const auto count = static_cast<size_t>(count_elements(dims).value_or(0));
  const size_t columns = dims.empty() ? 1 : static_cast<size_t>(dims.back());
  std::vector<std::byte> result(static_cast<size_t>(stored_bytes(plan.type, dims).value_or(0)));
  if (count == 0) return result;
  const size_t rows = count / columns, run = std::max<size_t>(1, kCopiedAtOnce / columns);
  const size_t from_row = row_bytes(from, columns), to_row = row_bytes(plan.type, columns);
  std::vector<float> values(std::min(run, rows) * columns);
  for (size_t first = 0; first < rows; first += run) {
    const size_t some = std::min(run, rows - first);
    const std::span<float> now = std::span(values).first(some * columns);
    read_values(from, bytes.subspan(first * from_row, some * from_row), now);
    if (plan.shift != 0) {  // adding 0 would change -0
      for (float& value : now) value += plan.shift;
    }
    LUMEN_TRY(store_values(plan.type, now, std::span(result).subspan(first * to_row, some * to_row)));
  }
  return result;
}

}  // namespace

Expected<std::vector<std::regex>> compile_expressions(std::span<const std::string> texts) {
  std::vector<std::regex> result;
  for (const std::string& text : texts) {
    try {
      result.emplace_back(text);
    } catch (const std::regex_error& problem) {
      return error(fmt::format("\"{}\" is no regular expression: {}", text, problem.what()));
    }
  }
  return result;
}

StorageType target_type(const StorageType& type, std::span<const int64_t> dims, const std::string& name, bool to_gguf,
                        const ConvertOptions& options, std::span<const std::regex> keep) {
  const bool kept = std::ranges::any_of(keep, [&](const std::regex& each) { return std::regex_search(name, each); });
  if (kept || !is_floating(type)) return type;
  if (to_gguf && !options.raw && !is_matrix(dims)) return DType::f32;
  if (!options.type) return type;
  const BlockType* const block = std::get_if<BlockType>(&*options.type);
  if (block == nullptr) return *options.type;
  if (!is_matrix(dims)) return DType::f32;
  return dims.back() % info(*block).elements == 0 ? *options.type : StorageType(DType::f16);
}

Expected<std::vector<std::byte>> converted_bytes(const Weight& weight, const TensorPlan& plan) {
  std::vector<std::byte> moved;
  std::span<const std::byte> bytes = weight.bytes;
  if (!plan.rows.empty()) bytes = moved = reordered(bytes, plan.rows);
  if (*weight.type == plan.type && plan.shift == 0) {
    return plan.rows.empty() ? std::vector<std::byte>(bytes.begin(), bytes.end()) : std::move(moved);
  }
  return restored(bytes, *weight.type, weight.dims, plan);
}

void describe_types(std::span<const TensorToWrite> tensors, GgufMetadata& metadata) {
  std::map<std::string_view, int64_t> bytes;
  bool quantised = false;
  for (const TensorToWrite& tensor : tensors) {
    if (is_matrix(tensor.dims)) bytes[name(tensor.type)] += stored_bytes(tensor.type, tensor.dims).value_or(0);
    quantised = quantised || std::holds_alternative<BlockType>(tensor.type);
  }
  const auto most = std::ranges::max_element(bytes, {}, [](const auto& each) { return each.second; });
  const auto known = std::ranges::find_if(
      kFileTypes, [&](const auto& each) { return most != bytes.end() && each.first == most->first; });
  metadata.erase("general.file_type");
  if (known != kFileTypes.end()) metadata["general.file_type"] = GgufValue::of_u32(known->second);
  if (quantised) metadata["general.quantization_version"] = GgufValue::of_u32(2);
}

}  // namespace lumen
