// Quantised weights on the CPU: reading them is a part of the product that they are for.
#include <gtest/gtest.h>

#include "lumen/codegen/contract.h"
#include "lumen/compile.h"
#include "lumen/frontend/ops.h"
#include "lumen/import/blocks.h"

namespace lumen {
namespace {

constexpr int64_t kRows = 48, kColumns = 128;

std::vector<std::byte> weights(BlockType type) {
  std::vector<float> values(kRows * kColumns);
  for (size_t k = 0; k < values.size(); ++k)
    values[k] = static_cast<float>(static_cast<int>(k * 7919 % 1009) - 504) / 512;
  std::vector<std::byte> bytes(values.size() / 32 * static_cast<size_t>(info(type).bytes));
  EXPECT_TRUE(quantise(type, values, bytes).ok());
  return bytes;
}

void expect_product(Session session, BlockType type, int64_t tokens) {
  const std::vector<std::byte> bytes = weights(type);
  std::vector<float> w(kRows * kColumns), x;
  dequantise(type, bytes, w);
  for (int64_t k = 0; k < tokens * kColumns; ++k) x.push_back(static_cast<float>(k % 17 - 8) / 8);
  session.set("x", x);
  session.set_bytes("w", bytes);
  session.execute();
  const std::vector<float> y = session.get<float>("y");
  for (size_t k = 0; k < y.size(); ++k) {
    double sum = 0;
    for (size_t c = 0; c < kColumns; ++c) sum += double{x[k / kRows * kColumns + c]} * w[k % kRows * kColumns + c];
    ASSERT_NEAR(y[k], sum, 1e-4) << k;
  }
}

void expect_one_kernel(BlockType type, int64_t tokens) {
  SCOPED_TRACE(name(type));
  const int64_t row = kColumns / info(type).elements * info(type).bytes;
  Graph graph;
  const Tensor x = graph.input("x", {tokens, kColumns});
  const Tensor w = graph.input("w", {kRows, row}, DType::u8);
  matmul(x, transpose(dequantise(w, type))).output("y");
  CompileOptions options;
  options.fusion = FusionPolicy::always;
  options.measure = false;
  Compiled compiled = compile_for_cpu(graph, options);
  const Program& program = compiled.variants[0].binary.program;
  ASSERT_EQ(program.calls.size(), 1u);
  EXPECT_TRUE(ContractSchedule::parse(program.kernels[0].schedule).ok()) << program.kernels[0].schedule;
  expect_product(make_session(std::move(compiled)), type, tokens);
}

TEST(Blocks, AreReadByTheProduct) {
  for (const int64_t tokens : {1, 64}) {
    expect_one_kernel(BlockType::q8_0, tokens);
    expect_one_kernel(BlockType::q4_0, tokens);
  }
}

}  // namespace
}  // namespace lumen
