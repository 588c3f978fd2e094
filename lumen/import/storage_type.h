// How the elements of a stored tensor lie in a file: as a dtype, or in quantised blocks.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <variant>

#include "lumen/ir/block_type.h"
#include "lumen/ir/dtype.h"

namespace lumen {

using StorageType = std::variant<DType, BlockType>;

std::string_view name(const StorageType& type);  // "f32", "q8_0"
std::optional<StorageType> parse_storage_type(std::string_view text);

// The product of the dims; nothing when one is negative or the product is beyond 2^56.
std::optional<int64_t> count_elements(std::span<const int64_t> dims);
// What the elements take; nothing when that is no number or no whole number of bytes, or a row no whole number of
// blocks.
std::optional<int64_t> stored_bytes(const StorageType& type, std::span<const int64_t> dims);

}  // namespace lumen
