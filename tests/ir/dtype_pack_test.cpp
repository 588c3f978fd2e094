#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "lumen/ir/dtype.h"
#include "lumen/ir/host_tensor.h"

namespace lumen {
namespace {

std::vector<std::byte> bytes_of(std::initializer_list<int> values) {
  std::vector<std::byte> bytes;
  for (const int value : values) bytes.push_back(static_cast<std::byte>(value));
  return bytes;
}
std::vector<Lane> unpacked(DType dtype, std::span<const std::byte> bytes, size_t count) {
  std::vector<Lane> lanes(count, Lane{.i = 0x5bad5bad});
  unpack(dtype, bytes, lanes);
  return lanes;
}
std::vector<std::byte> packed(DType dtype, std::span<const Lane> lanes) {
  std::vector<std::byte> bytes(static_cast<size_t>(storage_bytes(dtype, static_cast<int64_t>(lanes.size()))),
                               std::byte{0xa5});
  pack(dtype, lanes, bytes);
  return bytes;
}

TEST(dtype_pack, storage_rounds_up_to_bytes) {
  EXPECT_EQ(storage_bytes(f32, 3), 12);
  EXPECT_EQ(storage_bytes(i4, 3), 2);
  EXPECT_EQ(storage_bytes(f6e2m3, 4), 3);
  EXPECT_EQ(storage_bytes(f6e2m3, 5), 4);
  EXPECT_EQ(storage_bytes(bool_, 5), 5);
  EXPECT_EQ(storage_bytes(u4, 0), 0);
  EXPECT_EQ(storage_bytes(i4, std::numeric_limits<int64_t>::max()), (int64_t{1} << 62));
}

TEST(dtype_pack_death, sizes_must_agree) {
  std::vector<std::byte> bytes(3);
  std::vector<Lane> lanes(1);
  EXPECT_DEATH(unpack(f32, bytes, lanes), "as many bytes as the elements take");
  EXPECT_DEATH(storage_bytes(f64, std::numeric_limits<int64_t>::max()), "more than 2\\^63 bytes");
}

// Every code of the formats up to 16 bits comes back as it was, and as a value of its dtype.
TEST(dtype_pack, every_code_survives) {
  for (const DTypeInfo& row : all_dtypes()) {
    if (row.bits > 16 || row.dtype == bool_) continue;
    const size_t codes = size_t{1} << row.bits;
    std::vector<std::byte> bytes(static_cast<size_t>(storage_bytes(row.dtype, static_cast<int64_t>(codes))));
    for (size_t code = 0; code < codes; ++code) {
      for (size_t bit = 0; bit < static_cast<size_t>(row.bits); ++bit) {
        const size_t at = code * static_cast<size_t>(row.bits) + bit;
        if ((code >> bit) & 1) bytes[at / 8] |= static_cast<std::byte>(1 << (at % 8));
      }
    }
    const std::vector<Lane> lanes = unpacked(row.dtype, bytes, codes);
    EXPECT_EQ(packed(row.dtype, lanes), bytes) << row.name;
    for (size_t code = 0; code < codes; ++code) {
      if (is_float(row.dtype) && !std::isnan(lanes[code].f)) {
        ASSERT_EQ(round_to(row.dtype, lanes[code].f), lanes[code].f) << row.name << " code " << code;
      } else if (!is_float(row.dtype)) {
        ASSERT_EQ(wrap_to(row.dtype, lanes[code].i), lanes[code].i) << row.name << " code " << code;
      }
    }
  }
}

TEST(dtype_pack, random_bits_survive_in_wide_formats) {
  std::mt19937_64 random(7);
  for (const DType dtype : {f64, f32, i64, i32, u64, u32}) {
    std::vector<std::byte> bytes(static_cast<size_t>(storage_bytes(dtype, 1000)));
    for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
    EXPECT_EQ(packed(dtype, unpacked(dtype, bytes, 1000)), bytes) << name(dtype);
  }
  const auto signalling = bytes_of({0x01, 0x00, 0x80, 0xff});
  EXPECT_EQ(packed(f32, unpacked(f32, signalling, 1)), signalling);
}

TEST(dtype_pack, known_codes) {
  EXPECT_EQ(unpacked(f16, bytes_of({0x00, 0x3c}), 1)[0].f, 1);
  EXPECT_EQ(unpacked(f16, bytes_of({0x01, 0x00}), 1)[0].f, 0x1p-24);
  EXPECT_EQ(unpacked(f16, bytes_of({0x00, 0xfc}), 1)[0].f, -std::numeric_limits<double>::infinity());
  EXPECT_EQ(unpacked(bf16, bytes_of({0x80, 0x3f}), 1)[0].f, 1);
  EXPECT_EQ(unpacked(f8e4m3, bytes_of({0x7e}), 1)[0].f, 448);
  EXPECT_TRUE(std::isnan(unpacked(f8e4m3, bytes_of({0x7f}), 1)[0].f));
  EXPECT_EQ(unpacked(f8e5m2, bytes_of({0x7b}), 1)[0].f, 57344);
  EXPECT_EQ(unpacked(f8ue8m0, bytes_of({0x00}), 1)[0].f, 0x1p-127);
  EXPECT_TRUE(std::isnan(unpacked(f8ue8m0, bytes_of({0xff}), 1)[0].f));
  EXPECT_EQ(unpacked(tf32, bytes_of({0x00, 0x00, 0x80, 0x3f}), 1)[0].f, 1);
  const Lane tf32_two_thirds{.f = round_to(tf32, 2.0 / 3)};
  const std::vector<std::byte> stored = packed(tf32, std::span(&tf32_two_thirds, 1));
  float as_f32 = 0;
  std::memcpy(&as_f32, stored.data(), 4);
  EXPECT_EQ(static_cast<double>(as_f32), tf32_two_thirds.f);
  const std::vector<Lane> nibbles = unpacked(i4, bytes_of({0x8f, 0x01}), 3);
  EXPECT_EQ(nibbles[0].i, -1);
  EXPECT_EQ(nibbles[1].i, -8);
  EXPECT_EQ(nibbles[2].i, 1);
  const std::vector<Lane> bools = unpacked(bool_, bytes_of({0, 1, 2}), 3);
  EXPECT_EQ(bools[2].i, 1);
  EXPECT_EQ(packed(bool_, bools), bytes_of({0, 1, 1}));
  const Lane wide[] = {{.i = 0x1ff}, {.i = -1}};
  EXPECT_EQ(packed(u8, wide), bytes_of({0xff, 0xff}));
}

TEST(host_tensor, starts_poisoned) {
  const HostTensor floats = HostTensor::poisoned(f16, {2, 3});
  EXPECT_EQ(floats.numel(), 6);
  for (const Lane lane : floats.lanes) EXPECT_TRUE(std::isnan(lane.f));
  for (const Lane lane : HostTensor::poisoned(i8, {2}).lanes) EXPECT_NE(wrap_to(i8, lane.i), lane.i);
  EXPECT_EQ(HostTensor::poisoned(f32, {}).numel(), 1);
  EXPECT_EQ(HostTensor::poisoned(f32, {int64_t{1} << 62, 8, 0}).numel(), 0);
}

TEST(host_tensor_death, refuses_impossible_dims) {
  EXPECT_DEATH(HostTensor::poisoned(f32, {-1}), "a dim is negative");
  EXPECT_DEATH(HostTensor::poisoned(f32, {int64_t{1} << 62, 8}), "does not fit in 64 bits");
}

}  // namespace
}  // namespace lumen
