// Quantised weights on the CPU: reading them is a part of the product that they are for.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "lumen/codegen/contract.h"
#include "lumen/compile.h"
#include "lumen/frontend/ops.h"
#include "lumen/import/blocks.h"

namespace lumen {
namespace {

constexpr int64_t kBlockRows = 48, kBlockColumns = 512;

// Any bytes whose values are of usual size.
std::vector<std::byte> weights(BlockType type) {
  std::mt19937 engine(11);
  const auto size = static_cast<size_t>(info(type).bytes);
  std::vector<std::byte> bytes(kBlockRows * kBlockColumns / static_cast<size_t>(info(type).elements) * size);
  std::vector<float> values(static_cast<size_t>(info(type).elements));
  for (size_t at = 0; at < bytes.size();) {
    const std::span<std::byte> block(bytes.data() + at, size);
    for (std::byte& byte : block) byte = static_cast<std::byte>(engine());
    dequantise(type, block, values);
    if (std::ranges::all_of(values, [](float v) { return std::abs(v) < 100; })) at += size;
  }
  return bytes;
}

void expect_product(Session session, BlockType type, int64_t tokens) {
  const std::vector<std::byte> bytes = weights(type);
  std::vector<float> w(kBlockRows * kBlockColumns), x;
  dequantise(type, bytes, w);
  for (int64_t k = 0; k < tokens * kBlockColumns; ++k) x.push_back(static_cast<float>(k % 17 - 8) / 8);
  session.set("x", x);
  session.set_bytes("w", bytes);
  session.execute();
  const std::vector<float> y = session.get<float>("y");
  for (size_t k = 0; k < y.size(); ++k) {
    double sum = 0, size = 0;
    for (size_t c = 0; c < kBlockColumns; ++c) {
      const double product = double{x[k / kBlockRows * kBlockColumns + c]} * w[k % kBlockRows * kBlockColumns + c];
      sum += product;
      size += std::abs(product);
    }
    ASSERT_NEAR(y[k], sum, 2e-6 * size) << k;
  }
}

Compiled compile_product(BlockType type, int64_t tokens) {
  Graph graph;
  const Tensor x = graph.input("x", {tokens, kBlockColumns});
  const Tensor w = graph.input("w", {kBlockRows, kBlockColumns / info(type).elements * info(type).bytes}, DType::u8);
  matmul(x, transpose(dequantise(w, type))).output("y");
  CompileOptions options;
  options.fusion = FusionPolicy::always;
  options.measure = false;
  options.c_flags = {"-O1", "-w"};
  return compile_program(graph, options);
}

TEST(Blocks, AreReadByTheProduct) {
  for (const BlockInfo& about : all_block_types()) {
    for (const int64_t tokens : {1, 64}) {
      SCOPED_TRACE(std::string(about.name) + " for " + std::to_string(tokens));
      Compiled compiled = compile_product(about.type, tokens);
      const Program& program = compiled.variants[0].binary.program;
      ASSERT_EQ(program.calls.size(), 1u);
      EXPECT_TRUE(ContractSchedule::parse(program.kernels[0].schedule).ok()) << program.kernels[0].schedule;
      EXPECT_TRUE(program.kernels[0].text.faults.empty());  // every place is known to be inside
      expect_product(make_session(std::move(compiled)), about.type, tokens);
    }
  }
}

// An embedding in blocks: rows are taken as bytes, and only those are read as numbers.
TEST(Blocks, RowsAreTakenBeforeTheyAreRead) {
  for (const BlockType type : {BlockType::q8_0, BlockType::q4_0, BlockType::q6_k}) {
    SCOPED_TRACE(name(type));
    Graph graph;
    const Tensor ids = graph.input("ids", {3}, DType::i64);
    const Tensor w = graph.input("w", {kBlockRows, kBlockColumns / info(type).elements * info(type).bytes}, DType::u8);
    dequantise(index_select(w, 0, ids), type).output("y");
    CompileOptions options;
    options.fusion = FusionPolicy::always;
    options.measure = false;
    Compiled compiled = compile_program(graph, options);
    EXPECT_EQ(compiled.variants[0].binary.program.calls.size(), 1u);
    Session session = make_session(std::move(compiled));
    const std::vector<std::byte> bytes = weights(type);
    std::vector<float> values(kBlockRows * kBlockColumns);
    dequantise(type, bytes, values);
    session.set("ids", std::vector<int64_t>{7, 0, 47});
    session.set_bytes("w", bytes);
    session.execute();
    const std::vector<float> y = session.get<float>("y");
    for (size_t k = 0; k < y.size(); ++k) {
      const size_t row = k < kBlockColumns ? 7 : k < 2 * kBlockColumns ? 0 : 47;
      ASSERT_EQ(y[k], values[row * kBlockColumns + k % kBlockColumns]) << k;
    }
  }
}

}  // namespace
}  // namespace lumen
