#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "lumen/base/check.h"
#include "lumen/import/block_reader.h"
#include "lumen/import/blocks.h"
#include "lumen/ir/float_format.h"

namespace lumen {

namespace {

constexpr float kLargestHalf = 65504;

void put_half(float value, std::byte* out) {
  const DTypeInfo& format = info(DType::f16);
  const uint64_t bits = encode_float(format, round_float(format, value));
  out[0] = static_cast<std::byte>(bits & 0xff);
  out[1] = static_cast<std::byte>(bits >> 8);
}

// Values so small that 1 / d overflows are 0 in f16 units, too.
float inverse(float d) {
  const float result = 1.0f / d;
  return d == 0 || !std::isfinite(result) ? 0.0f : result;
}

// Of the value whose magnitude is the largest, the first of equals.
float extreme(std::span<const float> values) {
  return *std::max_element(values.begin(), values.end(), [](float a, float b) { return std::abs(a) < std::abs(b); });
}

void quantise_q8_0(std::span<const float> values, float d, std::byte* out) {
  put_half(d, out);
  const float id = inverse(d);
  for (size_t k = 0; k < values.size(); ++k) {
    out[2 + k] = static_cast<std::byte>(static_cast<int8_t>(std::round(values[k] * id)));
  }
}

void quantise_q4_0(std::span<const float> values, float d, std::byte* out) {
  put_half(d, out);
  const float id = inverse(d);
  const auto nibble = [&](size_t k) { return std::min(15, static_cast<int>(values[k] * id + 8.5f)); };
  for (size_t k = 0; k < values.size() / 2; ++k) {
    out[2 + k] = static_cast<std::byte>(nibble(k) | nibble(k + values.size() / 2) << 4);
  }
}

}  // namespace

bool can_quantise(BlockType type) { return type == BlockType::q8_0 || type == BlockType::q4_0; }

Expected<void> quantise(BlockType type, std::span<const float> values, std::span<std::byte> blocks) {
  const BlockInfo& about = info(type);
  const auto bytes = static_cast<size_t>(about.bytes), elements = static_cast<size_t>(about.elements);
  CHECK(can_quantise(type), "a type that can be made");
  CHECK(blocks.size() % bytes == 0 && blocks.size() / bytes * elements == values.size(), "whole blocks");
  for (size_t b = 0; b < blocks.size() / bytes; ++b) {
    const std::span<const float> block = values.subspan(b * elements, elements);
    for (size_t k = 0; k < elements; ++k) {
      if (!std::isfinite(block[k])) {
        return error(fmt::format("element {} is {}, which {} cannot hold", b * elements + k, block[k], about.name));
      }
    }
    const float most = extreme(block);
    const float d = type == BlockType::q8_0 ? std::abs(most) / 127 : most / -8;
    if (std::abs(d) > kLargestHalf) {
      return error(fmt::format("element {} is too large for {}", most, about.name));
    }
    std::byte* const out = blocks.data() + b * bytes;
    type == BlockType::q8_0 ? quantise_q8_0(block, d, out) : quantise_q4_0(block, d, out);
  }
  return {};
}

}  // namespace lumen
