// What happens to each tensor of a conversion.
#pragma once

#include <optional>
#include <regex>
#include <string>
#include <vector>

#include "lumen/import/convert.h"

namespace lumen {

struct TensorPlan {
  std::string name;           // the new one
  StorageType type;           // the new one
  std::vector<int64_t> rows;  // of each new row, which one it is; empty when rows stay
  float shift = 0;            // added to every value
};

// The type that a tensor gets.
StorageType target_type(const StorageType& type, std::span<const int64_t> dims, const std::string& name, bool to_gguf,
                        const ConvertOptions& options, std::span<const std::regex> keep);
Expected<std::vector<std::regex>> compile_expressions(std::span<const std::string> texts);

// The elements of `weight` as the plan wants them.
Expected<std::vector<std::byte>> converted_bytes(const Weight& weight, const TensorPlan& plan);

// general.file_type and general.quantization_version, as the types of the matrices make them.
void describe_types(std::span<const TensorToWrite> tensors, GgufMetadata& metadata);

}  // namespace lumen
