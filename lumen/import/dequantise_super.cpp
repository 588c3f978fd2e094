// Super-blocks of 256 elements in runs of 16 or 32, each with a small integer scale (and minimum) of its own.
#include "lumen/import/block_reader.h"

namespace lumen {

namespace {

constexpr size_t kElements = 256;

// Two bits of element e, four elements to a byte: a byte holds elements 32 apart, from byte `at` on.
int two_bits(const BlockReader& in, size_t at, size_t e) {
  return in.byte(at + e / 128 * 32 + e % 32) >> e % 128 / 32 * 2 & 3;
}

// Four bits of element e: a byte holds element k of one run of 32 and of the next.
int four_bits(const BlockReader& in, size_t at, size_t e) {
  return in.byte(at + e / 64 * 32 + e % 32) >> e % 64 / 32 * 4 & 15;
}

// The bit of element e: a byte holds that of element k of each of the eight runs of 32.
int one_bit(const BlockReader& in, size_t at, size_t e) { return in.byte(at + e % 32) >> e / 32 & 1; }

struct ScaleAndMinimum {
  int scale;
  int minimum;
};

// Of run `r`: eight pairs of six bits in the 12 bytes from `at` on. The first four lie in the low bits of bytes 0 to 7;
// the others have their low four bits in bytes 8 to 11 and their high two where the first left room.
ScaleAndMinimum six_bits(const BlockReader& in, size_t at, size_t r) {
  const int scale = in.byte(at + r % 4), minimum = in.byte(at + 4 + r % 4);
  if (r < 4) return {scale & 63, minimum & 63};
  const int low = in.byte(at + 8 + r % 4);
  return {(low & 15) | (scale >> 6) << 4, low >> 4 | (minimum >> 6) << 4};
}

}  // namespace

void dequantise_q2_k(const BlockReader& in, float* out) {
  const float d = in.half(80), dmin = in.half(82);
  for (size_t e = 0; e < kElements; ++e) {
    const int scale = in.byte(e / 16);
    const float step = d * static_cast<float>(scale & 15), minimum = dmin * static_cast<float>(scale >> 4);
    out[e] = step * static_cast<float>(two_bits(in, 16, e)) - minimum;
  }
}

void dequantise_q3_k(const BlockReader& in, float* out) {
  const float d = in.half(108);
  for (size_t e = 0; e < kElements; ++e) {
    const size_t run = e / 16;
    const int low = in.byte(96 + run % 8) >> run / 8 * 4 & 15;
    const int high = in.byte(104 + run % 4) >> run / 4 * 2 & 3;
    const int q = two_bits(in, 32, e) - 4 + 4 * one_bit(in, 0, e);
    out[e] = d * static_cast<float>((low | high << 4) - 32) * static_cast<float>(q);
  }
}

void dequantise_q4_k(const BlockReader& in, float* out) {
  const float d = in.half(0), dmin = in.half(2);
  for (size_t e = 0; e < kElements; ++e) {
    const ScaleAndMinimum run = six_bits(in, 4, e / 32);
    out[e] = d * static_cast<float>(run.scale) * static_cast<float>(four_bits(in, 16, e)) -
             dmin * static_cast<float>(run.minimum);
  }
}

void dequantise_q5_k(const BlockReader& in, float* out) {
  const float d = in.half(0), dmin = in.half(2);
  for (size_t e = 0; e < kElements; ++e) {
    const ScaleAndMinimum run = six_bits(in, 4, e / 32);
    const int q = four_bits(in, 48, e) | one_bit(in, 16, e) << 4;
    out[e] = d * static_cast<float>(run.scale) * static_cast<float>(q) - dmin * static_cast<float>(run.minimum);
  }
}

void dequantise_q6_k(const BlockReader& in, float* out) {
  const float d = in.half(208);
  for (size_t e = 0; e < kElements; ++e) {
    const int low = in.byte(e / 128 * 64 + e % 64) >> e % 128 / 64 * 4 & 15;
    const int q = (low | two_bits(in, 128, e) << 4) - 32;
    out[e] = d * static_cast<float>(in.signed_byte(192 + e / 16)) * static_cast<float>(q);
  }
}

}  // namespace lumen
