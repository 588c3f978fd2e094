#include <cmath>

#include "lumen/base/check.h"
#include "lumen/import/block_reader.h"
#include "lumen/import/blocks.h"
#include "lumen/ir/float_format.h"

namespace lumen {

namespace {

constexpr size_t kHalf = 16;  // a byte holds the elements k and k + 16 of a block of 32

void dequantise_q8_0(const BlockReader& in, float* out) {
  const float d = in.half(0);
  for (size_t k = 0; k < 2 * kHalf; ++k) out[k] = static_cast<float>(in.signed_byte(2 + k)) * d;
}

// Nibbles from byte `at` on: out = f(nibble of element k).
template <class F>
void each_nibble(const BlockReader& in, size_t at, float* out, F f) {
  for (size_t k = 0; k < kHalf; ++k) {
    out[k] = f(in.byte(at + k) & 15, k);
    out[k + kHalf] = f(in.byte(at + k) >> 4, k + kHalf);
  }
}

void dequantise_q4_0(const BlockReader& in, float* out) {
  const float d = in.half(0);
  each_nibble(in, 2, out, [&](int nibble, size_t) { return static_cast<float>(nibble - 8) * d; });
}

void dequantise_q4_1(const BlockReader& in, float* out) {
  const float d = in.half(0), m = in.half(2);
  each_nibble(in, 4, out, [&](int nibble, size_t) { return static_cast<float>(nibble) * d + m; });
}

// The fifth bit of element k is bit k of the 32 from byte `at` on.
int fifth_bit(const BlockReader& in, size_t at, size_t k) { return (in.byte(at + k / 8) >> k % 8 & 1) << 4; }

void dequantise_q5_0(const BlockReader& in, float* out) {
  const float d = in.half(0);
  each_nibble(in, 6, out,
              [&](int nibble, size_t k) { return static_cast<float>((nibble | fifth_bit(in, 2, k)) - 16) * d; });
}

void dequantise_q5_1(const BlockReader& in, float* out) {
  const float d = in.half(0), m = in.half(2);
  each_nibble(in, 8, out,
              [&](int nibble, size_t k) { return static_cast<float>(nibble | fifth_bit(in, 4, k)) * d + m; });
}

// f4e2m1 values, doubled; the scale is 2^(e - 127), halved.
void dequantise_mxfp4(const BlockReader& in, float* out) {
  static constexpr float kValues[] = {0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};
  const float d = std::ldexp(1.0f, in.byte(0) - 128);
  each_nibble(in, 1, out, [&](int nibble, size_t) { return kValues[nibble] * d; });
}

}  // namespace

float half_value(uint16_t bits) { return static_cast<float>(decode_float(info(DType::f16), bits)); }

void dequantise(BlockType type, std::span<const std::byte> blocks, std::span<float> values) {
  const BlockInfo& about = info(type);
  const auto bytes = static_cast<size_t>(about.bytes), elements = static_cast<size_t>(about.elements);
  CHECK(blocks.size() % bytes == 0 && blocks.size() / bytes * elements == values.size(), "whole blocks");
  for (size_t b = 0; b < blocks.size() / bytes; ++b) {
    const BlockReader in(blocks.subspan(b * bytes, bytes));
    float* const out = values.data() + b * elements;
    switch (type) {
      case BlockType::q8_0:
        dequantise_q8_0(in, out);
        break;
      case BlockType::q4_0:
        dequantise_q4_0(in, out);
        break;
      case BlockType::q4_1:
        dequantise_q4_1(in, out);
        break;
      case BlockType::q5_0:
        dequantise_q5_0(in, out);
        break;
      case BlockType::q5_1:
        dequantise_q5_1(in, out);
        break;
      case BlockType::q2_k:
        dequantise_q2_k(in, out);
        break;
      case BlockType::q3_k:
        dequantise_q3_k(in, out);
        break;
      case BlockType::q4_k:
        dequantise_q4_k(in, out);
        break;
      case BlockType::q5_k:
        dequantise_q5_k(in, out);
        break;
      case BlockType::q6_k:
        dequantise_q6_k(in, out);
        break;
      case BlockType::mxfp4:
        dequantise_mxfp4(in, out);
        break;
    }
  }
}

}  // namespace lumen
