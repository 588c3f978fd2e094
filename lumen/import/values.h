// Stored elements as f32 and back, whatever they are stored as.
#pragma once

#include <cstddef>
#include <span>

#include "lumen/base/expected.h"
#include "lumen/import/storage_type.h"

namespace lumen {

// Every element, converted to f32; bytes.size() is what they take.
void read_values(const StorageType& type, std::span<const std::byte> bytes, std::span<float> values);

// f32 values as a float dtype, or as a block type that can be made (blocks.h). Errors as `quantise` has them, and for a
// finite value that the dtype has no room for.
Expected<void> store_values(const StorageType& type, std::span<const float> values, std::span<std::byte> bytes);

}  // namespace lumen
