// One block of quantised elements, read byte by byte; and the super-blocks of 256 ("k-quants").
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace lumen {

// The value of the 16 bits of an f16.
float half_value(uint16_t bits);

class BlockReader {
 public:
  explicit BlockReader(std::span<const std::byte> bytes) : bytes_(bytes) {}
  int byte(size_t at) const { return std::to_integer<int>(bytes_[at]); }
  int signed_byte(size_t at) const { return static_cast<int8_t>(bytes_[at]); }
  float half(size_t at) const { return half_value(static_cast<uint16_t>(byte(at) | byte(at + 1) << 8)); }

 private:
  std::span<const std::byte> bytes_;
};

// Each writes 256 values.
void dequantise_q2_k(const BlockReader& in, float* out);
void dequantise_q3_k(const BlockReader& in, float* out);
void dequantise_q4_k(const BlockReader& in, float* out);
void dequantise_q5_k(const BlockReader& in, float* out);
void dequantise_q6_k(const BlockReader& in, float* out);

}  // namespace lumen
