// Blocks of quantised elements (ir/block_type.h) as f32 and back, on the host: the definition of every layout.
#pragma once

#include <cstddef>
#include <span>

#include "lumen/base/expected.h"
#include "lumen/ir/block_type.h"

namespace lumen {

// Whole blocks; values.size() is the number of elements in them. The same f32 values as ggml's, bit for bit.
void dequantise(BlockType type, std::span<const std::byte> blocks, std::span<float> values);

bool can_quantise(BlockType type);  // q8_0 and q4_0
// Whole blocks of a type for which can_quantise holds, as ggml's reference makes them: the scale is the largest
// magnitude / 127 (q8_0) or the value of largest magnitude / -8 (q4_0), rounded to f16. An error when a value is not
// finite or the scale is no f16.
Expected<void> quantise(BlockType type, std::span<const float> values, std::span<std::byte> blocks);

}  // namespace lumen
