// Products with few rows whose columns are quantised blocks, copied to shared memory: emulated, against the reference.
#include <gtest/gtest.h>

#include "lumen/codegen/cuda_contract.h"
#include "lumen/codegen/print_kernel.h"
#include "lumen/frontend/blocks.h"
#include "tests/codegen/contract_graphs.h"
#include "tests/codegen/cuda_emulator.h"
#include "tests/support/gpu_target.h"

namespace lumen {
namespace {

using namespace lumen::testing;

// So few multiprocessors that a block has one tile after another.
Target small_target() {
  Target target = tests::gpu_target();
  target.multiprocessors = 1;
  return target;
}

bool is_blocks(const std::string& schedule) { return schedule.starts_with("gpu-blocks "); }

Tensor blocks_input(Graph& graph, const std::string& name, std::vector<Expr> dims, BlockType type) {
  dims.back() = dims.back() / info(type).elements * info(type).bytes;
  return graph.input(name, Shape(dims), u8);
}

// Bytes of a block that hold the sign and exponent of an f16.
std::vector<int64_t> scale_bytes(BlockType type) {
  switch (type) {
    case BlockType::q8_0:
    case BlockType::q4_0:
    case BlockType::q5_0:
      return {1};
    case BlockType::q4_1:
    case BlockType::q5_1:
    case BlockType::q4_k:
    case BlockType::q5_k:
      return {1, 3};
    case BlockType::q2_k:
      return {81, 83};
    case BlockType::q3_k:
      return {109};
    case BlockType::q6_k:
      return {209};
    case BlockType::mxfp4:
      return {};
  }
  return {};
}

// Bytes of any value, in which scales are of about 1.
HostTensor random_scaled_blocks(TensorType tensor, BlockType type, std::mt19937_64& random) {
  HostTensor made = HostTensor::poisoned(tensor.dtype, tensor.shape.evaluate({}).value());
  const std::vector<int64_t> scales = scale_bytes(type);
  for (size_t k = 0; k < made.lanes.size(); ++k) {
    const auto at = static_cast<int64_t>(k) % info(type).bytes;
    const auto any = static_cast<int64_t>(random() % 256);
    const bool is_scale = std::ranges::find(scales, at) != scales.end();
    made.lanes[k].i = is_scale ? 0x38 + any % 8 : type == BlockType::mxfp4 && at == 0 ? 124 + any % 8 : any;
  }
  return made;
}

// How large sums like those of the case get. Where there are few, all may be small by chance, and what they are summed
// up from is not: then those of other signs are looked at, too.
double largest_like(std::span<const Lane> sums, Case given, std::mt19937_64& random) {
  double most = largest(sums);
  for (size_t looked_at = sums.size(); looked_at < 16; looked_at += sums.size()) {
    for (Lane& lane : given.inputs[0].lanes) lane.f *= random() % 2 == 0 ? 1 : -1;
    most = std::max(most, largest(wanted_of(given).value()[0].lanes));
  }
  return most;
}

// Bodies, each with all schedules of this kind that are proposed for it and those of `more` that fit.
class BlocksCases {
 public:
  explicit BlocksCases(std::vector<std::string> more = {}, const Target& target = small_target())
      : more_(std::move(more)), target_(target) {}

  // How many schedules of this kind there were.
  size_t add(const Graph& graph, BlockType type) {
    const std::shared_ptr<const Graph> body = clone(graph);
    std::vector<std::string> schedules = kernel_schedules(*body, target_).value();
    std::erase_if(schedules, [](const std::string& each) { return !is_blocks(each); });
    schedules.insert(schedules.end(), more_.begin(), more_.end());
    const size_t before = kernels_.size();
    for (const std::string& schedule : schedules) {
      const auto kernel = print_kernel(*body, "k" + std::to_string(kernels_.size()), schedule, target_);
      if (!kernel.ok()) continue;
      kernels_.push_back(*kernel);
      Case& made = cases_.emplace_back(Case{body, {}, {}, *kernel, schedule});
      for (const NodeId id : body->inputs()) {
        const TensorType tensor = (*body)[id].type;
        made.inputs.push_back(tensor.dtype == u8 ? random_scaled_blocks(tensor, type, random_)
                                                 : small_integers(tensor, {}, random_));
        if (tensor.dtype != i32) continue;
        for (Lane& lane : made.inputs.back().lanes) lane.i = std::abs(lane.i);
      }
    }
    return kernels_.size() - before;
  }

  void run(double near = 1e-5) {
    const Emulated emulated(kernels_);
    for (const Case& each : cases_) {
      const auto [got, fault] = emulated.run(each, random_);
      ASSERT_EQ(fault, 0);
      const std::vector<HostTensor> wanted = wanted_of(each).value();
      const double most = largest_like(wanted[0].lanes, each, random_);
      for (size_t k = 0; k < wanted[0].lanes.size(); ++k) {
        ASSERT_NEAR(got[0].lanes[k].f, wanted[0].lanes[k].f, near * most) << k << " " << each.about << "\n"
                                                                          << print(*each.body) << each.kernel.text;
      }
    }
  }

 private:
  std::vector<std::string> more_;
  Target target_;
  std::vector<KernelText> kernels_;
  std::vector<Case> cases_;
  std::mt19937_64 random_{std::random_device{}()};
};

void add_product(BlocksCases& cases, BlockType type, int64_t rows, int64_t columns, int64_t depth, size_t expected) {
  Graph graph;
  const Tensor x = graph.input("a0", {rows, depth});
  const Tensor w = dequantise(blocks_input(graph, "a1", {columns, depth}, type), type);
  product(x, "mk", w, "nk", "mn").output("r0");
  EXPECT_GE(cases.add(graph, type), expected) << name(type) << " " << depth;
}

TEST(CudaContractBlocks, multiplies_every_type) {
  BlocksCases cases;
  for (const BlockInfo& type : all_block_types()) {
    for (const int64_t rows : {1, 3}) add_product(cases, type.type, rows, 9, 4096, 2);
  }
  cases.run();
}

// Stages that are not full, columns of one stage, many tiles for a block.
TEST(CudaContractBlocks, multiplies_every_size) {
  BlocksCases cases;
  for (const BlockType type : {BlockType::q8_0, BlockType::q4_0, BlockType::q4_k}) {
    for (const int64_t depth : {256, 512, 2048, 2560, 6400}) {
      for (const int64_t columns : {1, 39}) add_product(cases, type, 1, columns, depth, 1);
    }
  }
  cases.run();
}

TEST(CudaContractBlocks, multiplies_in_pieces_and_parts) {
  BlocksCases cases({"gpu-blocks rows=1 columns=8 summed=2048 threads=256 lanes=1 ahead=1",
                     "gpu-blocks rows=4 columns=4 summed=2048 threads=256 lanes=2 ahead=2 parts=2",
                     "gpu-blocks rows=8 columns=2 summed=4096 threads=128 lanes=2 ahead=3"});
  for (const BlockType type : {BlockType::q8_0, BlockType::q4_0, BlockType::q6_k}) {
    const int64_t depth = type == BlockType::q6_k ? 8192 : 8704;
    for (const int64_t rows : {1, 8}) add_product(cases, type, rows, 11, depth, 4);
  }
  cases.run();
}

TEST(CudaContractBlocks, multiplies_two_sides) {
  BlocksCases cases;
  for (const BlockType type : {BlockType::q8_0, BlockType::q4_1}) {
    for (const int64_t rows : {1, 2}) {
      Graph graph;
      const Tensor x = graph.input("a0", {rows, 2048}) * graph.input("a1", {2048});
      const auto side = [&](const char* name) {
        return product(x, "mk", dequantise(blocks_input(graph, name, {45, 2048}, type), type), "nk", "mn");
      };
      (maximum(side("a2"), 0.0) * side("a3")).output("r0");
      EXPECT_GE(cases.add(graph, type), 2u);
    }
  }
  cases.run();
}

// Experts of a mixture: which matrix a row is multiplied with is read.
TEST(CudaContractBlocks, chooses_matrices) {
  BlocksCases cases;
  for (const BlockType type : {BlockType::q8_0, BlockType::q4_k}) {
    Graph graph;
    const Tensor all = dequantise(blocks_input(graph, "a1", {5, 13, 2048}, type), type);
    const Tensor experts = graph.input("a2", {2, 3}, i32);
    product(graph.input("a0", {2, 3, 2048}), "tek", index_select(all, 0, experts), "tenk", "ten").output("r0");
    EXPECT_GE(cases.add(graph, type), 2u);
  }
  cases.run();
}

TEST(CudaContractBlocks, says_when_a_matrix_is_outside) {
  std::mt19937_64 random(std::random_device{}());
  Graph graph;
  const Tensor all = dequantise(blocks_input(graph, "a1", {5, 13, 512}, BlockType::q8_0), BlockType::q8_0);
  const Tensor experts = graph.input("a2", {3}, i32);
  product(graph.input("a0", {3, 512}), "ek", index_select(all, 0, experts), "enk", "en").output("r0");
  const std::shared_ptr<const Graph> body = clone(graph);
  const std::string schedule = kernel_schedules(*body, small_target()).value()[0];
  ASSERT_TRUE(is_blocks(schedule)) << schedule;
  Case given{body, {}, {}, print_kernel(*body, "k", schedule, small_target()).value(), schedule};
  for (const NodeId id : body->inputs()) given.inputs.push_back(small_integers((*body)[id].type, {}, random));
  const auto which = std::ranges::find_if(given.inputs, [](const HostTensor& each) { return each.dtype == i32; });
  for (Lane& lane : which->lanes) lane.i = std::abs(lane.i);
  which->lanes[1].i = 5;
  const auto [got, fault] = Emulated({given.kernel}).run(given, random);
  ASSERT_GT(fault, 0);
  EXPECT_EQ(given.kernel.faults[static_cast<size_t>(fault) - 1],
            "[Gather] an index is outside axis 0 of f32[5,13,512]");
}

// Weights of a model in bf16 are rounded to it, or not.
TEST(CudaContractBlocks, multiplies_what_was_rounded) {
  BlocksCases cases({"gpu-blocks rows=1 columns=8 summed=2048 threads=256 lanes=1 ahead=2",
                     "gpu-blocks rows=1 columns=8 summed=2048 threads=256 lanes=1 ahead=2 wide=1"});
  Graph graph;
  const Tensor x = cast(graph.input("a0", {1, 2048}, bf16), f32);
  const Tensor w = dequantise(blocks_input(graph, "a1", {30, 2048}, BlockType::q8_0), BlockType::q8_0, bf16);
  product(x, "mk", cast(w, f32), "nk", "mn").output("r0");
  EXPECT_GE(cases.add(graph, BlockType::q8_0), 4u);
  cases.run(4e-3);
}

TEST(CudaContractBlocks, leaves_other_columns_to_others) {
  BlocksCases cases;
  const auto count = [&](BlockType type, int64_t depth) {
    Graph graph;
    const Tensor w = dequantise(blocks_input(graph, "a1", {21, depth}, type), type);
    product(graph.input("a0", {1, depth}), "mk", w, "nk", "mn").output("r0");
    return cases.add(graph, type);
  };
  EXPECT_EQ(count(BlockType::q8_0, 32 * 9), 0u);   // rows of 306 bytes
  EXPECT_EQ(count(BlockType::q4_0, 32 * 12), 0u);  // of 216
  EXPECT_GT(count(BlockType::q4_0, 32 * 16), 0u);
  EXPECT_EQ(count(BlockType::q6_k, 256), 0u);
  Graph plain;
  product(plain.input("a0", {1, 512}), "mk", plain.input("a1", {21, 512}), "nk", "mn").output("r0");
  EXPECT_EQ(cases.add(plain, BlockType::q8_0), 0u);
  const auto refused = print_kernel(
      *clone(plain), "k", "gpu-blocks rows=1 columns=8 summed=2048 threads=256 lanes=1 ahead=2", small_target());
  EXPECT_EQ(refused.diag().message,
            "columns of whole blocks, of a multiple of 16 bytes, as the schedule \"gpu-blocks rows=1 columns=8 "
            "summed=2048 threads=256 lanes=1 ahead=2\" wants");
}

}  // namespace
}  // namespace lumen
