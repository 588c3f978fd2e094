// Quantised blocks in primitives, against the host's own reading of them.
#include "lumen/import/blocks.h"

#include <cmath>
#include <random>

#include "tests/frontend/rig.h"

namespace lumen {
namespace {

TEST(Dequantise, RefusesWhatAreNoBlocks) {
  Rig rig;
  const Tensor bytes = rig.graph().input("bytes", {2, 35}, DType::u8);
  EXPECT_EQ(error_of([&] {
              dequantise(bytes, BlockType::q8_0);
            }).rfind("[dequantise] the rows of u8[2,35] are not known to be whole blocks of 34 bytes, as q8_0 has", 0),
            0u);
  const Tensor floats = rig.graph().input("floats", {2, 34});
  EXPECT_EQ(error_of([&] {
              dequantise(floats, BlockType::q8_0);
            }).rfind("[dequantise] rows of u8 are wanted, not f32[2,34]", 0),
            0u);
  const Tensor row = rig.graph().input("row", {34}, DType::u8);
  EXPECT_EQ(error_of([&] {
              dequantise(row, BlockType::q8_0, DType::i8);
            }).rfind("[dequantise] the result must be a float, not i8", 0),
            0u);
}

// Any bytes; scales that are infinite or NaN would hide what is around them.
std::vector<std::byte> random_blocks(BlockType type, size_t count, uint32_t seed) {
  std::mt19937 engine(seed);
  const auto size = static_cast<size_t>(info(type).bytes);
  std::vector<std::byte> bytes(count * size);
  std::vector<float> values(static_cast<size_t>(info(type).elements));
  for (size_t b = 0; b < count;) {
    const std::span<std::byte> block(bytes.data() + b * size, size);
    for (std::byte& byte : block) byte = static_cast<std::byte>(engine());
    dequantise(type, block, values);
    const bool is_nan = type == BlockType::mxfp4 && block[0] == std::byte{255};
    if (!is_nan && std::ranges::all_of(values, [](float v) { return std::isfinite(v); })) ++b;
  }
  return bytes;
}

std::vector<double> widened(std::span<const std::byte> bytes) {
  std::vector<double> result;
  for (const std::byte byte : bytes) result.push_back(std::to_integer<int>(byte));
  return result;
}

TEST(Dequantise, IsWhatTheHostReads) {
  for (const BlockInfo& about : all_block_types()) {
    SCOPED_TRACE(about.name);
    Rig rig;
    const Expr rows = rig.dim("rows", 3);
    const std::vector<std::byte> bytes = random_blocks(about.type, 3 * 2, 7);
    std::vector<float> values(6 * static_cast<size_t>(about.elements));
    dequantise(about.type, bytes, values);
    const Tensor x = rig.input({rows, 2 * about.bytes}, widened(bytes), DType::u8);
    const Tensor y = dequantise(x, about.type);
    EXPECT_EQ(y.shape(), Shape({rows, 2 * about.elements}));
    const double tolerance = about.type == BlockType::mxfp4 ? 1e-45 : 0;  // where a zero may have either sign
    expect_close(rig.run(y), {values.begin(), values.end()}, tolerance);
  }
}

TEST(Dequantise, TakesOneRowAndManyDims) {
  Rig rig;
  const std::vector<std::byte> bytes = random_blocks(BlockType::q4_0, 8, 3);
  std::vector<float> values(8 * 32);
  dequantise(BlockType::q4_0, bytes, values);
  const Tensor flat = rig.input({8 * 18}, widened(bytes), DType::u8);
  expect_close(rig.run(dequantise(flat, BlockType::q4_0)), {values.begin(), values.end()});
  const Tensor deep = rig.input({2, 2, 2 * 18}, widened(bytes), DType::u8);
  const HostTensor result = rig.run(dequantise(deep, BlockType::q4_0));
  EXPECT_EQ(result.dims, (std::vector<int64_t>{2, 2, 64}));
  expect_close(result, {values.begin(), values.end()});
}

TEST(Dequantise, RoundsOnceToTheResult) {
  Rig rig;
  const std::vector<std::byte> bytes = random_blocks(BlockType::q4_k, 1, 5);
  std::vector<float> values(256);
  dequantise(BlockType::q4_k, bytes, values);
  std::vector<double> rounded;
  for (const float value : values) rounded.push_back(round_to(DType::bf16, value));
  const Tensor x = rig.input({144}, widened(bytes), DType::u8);
  expect_close(rig.run(dequantise(x, BlockType::q4_k, DType::bf16)), rounded);
}

TEST(Dequantise, TakesFewOps) {
  Rig rig;
  const Tensor x = rig.graph().input("x", {4, 68}, DType::u8);
  const Tensor y = dequantise(x, BlockType::q8_0);
  EXPECT_EQ(count_ops(y, "Bitcast"), 2);
  EXPECT_EQ(count_ops(y, "View"), 4);
  EXPECT_EQ(count_ops(y, "Cast"), 2);
  EXPECT_EQ(count_ops(y, "Mul"), 1);
}

}  // namespace
}  // namespace lumen
