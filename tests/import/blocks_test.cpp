#include "lumen/import/blocks.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "lumen/import/block_reader.h"

namespace lumen {
namespace {

std::vector<std::byte> block(BlockType type) { return std::vector<std::byte>(static_cast<size_t>(info(type).bytes)); }

std::vector<float> values_of(BlockType type, const std::vector<std::byte>& bytes) {
  std::vector<float> values(bytes.size() / static_cast<size_t>(info(type).bytes) *
                            static_cast<size_t>(info(type).elements));
  dequantise(type, bytes, values);
  return values;
}

void put_half(std::vector<std::byte>& bytes, size_t at, uint16_t bits) {
  bytes[at] = static_cast<std::byte>(bits & 0xff);
  bytes[at + 1] = static_cast<std::byte>(bits >> 8);
}

TEST(Blocks, RefusesWhatHasNoScale) {
  std::vector<float> values(64, 1.0f);
  std::vector<std::byte> bytes(68);
  values[40] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(quantise(BlockType::q8_0, values, bytes).diag().str(), "element 40 is nan, which q8_0 cannot hold");
  values[40] = 1e9f;
  EXPECT_EQ(quantise(BlockType::q8_0, values, bytes).diag().str(), "element 1000000000 is too large for q8_0");
  values[40] = std::numeric_limits<float>::infinity();
  bytes.resize(36);
  EXPECT_EQ(quantise(BlockType::q4_0, values, bytes).diag().str(), "element 40 is inf, which q4_0 cannot hold");
}

TEST(Blocks, QuantisesAsGgmlDoes) {
  std::vector<float> values(32, 0.0f);
  values[0] = -127;
  values[1] = 2.5f;
  values[17] = 127;
  std::vector<std::byte> bytes = block(BlockType::q8_0);
  ASSERT_TRUE(quantise(BlockType::q8_0, values, bytes).ok());
  EXPECT_EQ(BlockReader(bytes).half(0), 1.0f);
  EXPECT_EQ(BlockReader(bytes).signed_byte(2), -127);
  EXPECT_EQ(BlockReader(bytes).signed_byte(3), 3);  // half away from zero
  EXPECT_EQ(BlockReader(bytes).signed_byte(19), 127);
  bytes = block(BlockType::q4_0);
  values[0] = -8;
  values[17] = 8;
  ASSERT_TRUE(quantise(BlockType::q4_0, values, bytes).ok());
  EXPECT_EQ(BlockReader(bytes).half(0), 1.0f);  // the first of equals decides the sign
  EXPECT_EQ(BlockReader(bytes).byte(2), 0x80);  // -8 is 0, and 0 is 8
  EXPECT_EQ(BlockReader(bytes).byte(3), 0xfb);  // 8 is held at 15, 2.5 is 11
  EXPECT_EQ(values_of(BlockType::q4_0, bytes)[17], 7.0f);
}

TEST(Blocks, ZerosAndTinyValuesStayZero) {
  for (const float tiny : {0.0f, 1e-44f, -1e-38f}) {
    const std::vector<float> values(32, tiny);
    for (const BlockType type : {BlockType::q8_0, BlockType::q4_0}) {
      std::vector<std::byte> bytes = block(type);
      ASSERT_TRUE(quantise(type, values, bytes).ok());
      for (const float value : values_of(type, bytes)) EXPECT_EQ(value, 0.0f);
    }
  }
}

TEST(Blocks, ReadsEachLayout) {
  std::vector<std::byte> bytes = block(BlockType::q5_1);
  put_half(bytes, 0, 0x4000);      // 2
  put_half(bytes, 2, 0x3c00);      // 1
  bytes[4 + 2] = std::byte{2};     // the fifth bit of element 17
  bytes[8 + 1] = std::byte{0x35};  // elements 1 and 17
  const std::vector<float> q5 = values_of(BlockType::q5_1, bytes);
  EXPECT_EQ(q5[0], 1.0f);
  EXPECT_EQ(q5[1], 11.0f);
  EXPECT_EQ(q5[17], 39.0f);
  bytes = block(BlockType::mxfp4);
  bytes[0] = std::byte{128};  // 2
  bytes[1] = std::byte{0xf7};
  const std::vector<float> mx = values_of(BlockType::mxfp4, bytes);
  EXPECT_EQ(mx[0], 12.0f);
  EXPECT_EQ(mx[16], -12.0f);
  bytes = block(BlockType::q6_k);
  put_half(bytes, 208, 0x3c00);
  bytes[192 + 15] = std::byte{0xff};  // the scale of the last run is -1
  bytes[127] = std::byte{0x30};       // element 255 is 3 + 16 * 2 - 32
  bytes[191] = std::byte{0x80};
  EXPECT_EQ(values_of(BlockType::q6_k, bytes)[255], -3.0f);
  EXPECT_EQ(values_of(BlockType::q6_k, bytes)[254], 32.0f);
}

}  // namespace
}  // namespace lumen
