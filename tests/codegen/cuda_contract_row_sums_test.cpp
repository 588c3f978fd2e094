// Products with few rows whose kernels sum the rows themselves, for norms before or after: emulated, against the
// reference.
#include "lumen/codegen/cuda_contract_row_sums.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "lumen/codegen/print_kernel.h"
#include "lumen/frontend/blocks.h"
#include "tests/codegen/contract_graphs.h"
#include "tests/codegen/cuda_emulator.h"
#include "tests/support/gpu_target.h"

namespace lumen {
namespace {

using namespace lumen::testing;

// Bodies with every schedule that is proposed for them.
class SumCases {
 public:
  explicit SumCases(int multiprocessors = 132) { target_.multiprocessors = multiprocessors; }

  // How many schedules of this kind there were.
  size_t add(const Graph& graph, std::string_view kind = "gpu-dot ") {
    const std::shared_ptr<const Graph> body = clone(graph);
    size_t count = 0;
    const auto schedules = kernel_schedules(*body, target_);
    EXPECT_TRUE(schedules.ok()) << schedules.diag().str() << print(*body);
    for (const std::string& schedule : schedules.ok() ? *schedules : std::vector<std::string>()) {
      kernels_.push_back(print_kernel(*body, "k" + std::to_string(kernels_.size()), schedule, target_).value());
      Case& made = cases_.emplace_back(Case{body, {}, {}, kernels_.back(), schedule});
      EXPECT_EQ(kernels_.back().steps.size(), 1u);
      for (const NodeId id : body->inputs()) made.inputs.push_back(small_integers((*body)[id].type, {}, random_));
      count += schedule.starts_with(kind) ? 1 : 0;
    }
    return count;
  }

  void run(double units = 4, bool rounded = false) {
    const auto expect = [&](const HostTensor& got, const HostTensor& wanted, const Case& each) {
      expect_same(got, wanted, units, each, rounded ? largest(wanted.lanes) : 0);
    };
    expect_emulated(kernels_, cases_, random_, expect);
  }

 private:
  Target target_ = tests::gpu_target();
  std::vector<KernelText> kernels_;
  std::vector<Case> cases_;
  std::mt19937_64 random_{std::random_device{}()};
};

// What an exact norm would be: every result is an integer that f32 has.
Tensor scaled_by_squares(const Tensor& x) { return x * (sum(x * x, {-1}, true) * 0.5); }

TEST(CudaRowSums, are_computed_before_the_rows) {
  for (const int multiprocessors : {132, 1}) {  // a block has one tile, or all of them
    SumCases cases(multiprocessors);
    const std::tuple<DType, int64_t, int64_t> sizes[] = {{bf16, 1, 512}, {f32, 1, 72}, {bf16, 3, 520},
                                                         {f16, 2, 264},  {f16, 4, 33}, {f32, 4, 100}};
    for (const auto& [dtype, rows, depth] : sizes) {
      Graph graph;
      const Tensor x = cast(graph.input("a0", {rows, depth}, dtype), f32);
      const Tensor w = cast(graph.input("a1", {45, depth}, dtype), f32);
      product(scaled_by_squares(x), "mk", w, "nk", "mn").output("r0");
      EXPECT_GE(cases.add(graph), 2u);
    }
    cases.run();
  }
}

TEST(CudaRowSums, are_computed_for_what_follows) {
  SumCases cases;
  for (const int64_t rows : {1, 2, 4}) {
    Graph graph;
    const Tensor x = cast(graph.input("a0", {1, rows, 264}, bf16), f32);
    const Tensor w = cast(graph.input("a1", {37, 264}, bf16), f32);
    const Tensor rest = cast(graph.input("a2", {1, rows, 37}, bf16), f32);
    const Tensor y = product(x, "amk", w, "nk", "amn") * sum(x * x, {-1}, true);
    (y + rest).output("r0");
    cast(maximum(y, 0.0), i32).output("r1");
    EXPECT_GE(cases.add(graph), 2u);
  }
  cases.run();
}

// A norm, two sides, a gate; the row is rounded to bf16 as models round it.
TEST(CudaRowSums, serve_several_contractions) {
  SumCases cases;
  for (const int64_t rows : {1, 2}) {
    Graph graph;
    const Tensor x = graph.input("a0", {1, rows, 640}, bf16), weight = graph.input("a1", {640}, bf16);
    const Tensor normed = cast(cast(scaled_by_squares(cast(x, f32)) * cast(weight, f32), bf16), f32);
    const Tensor g = product(normed, "amk", cast(graph.input("a2", {70, 640}, bf16), f32), "nk", "amn");
    const Tensor u = product(normed, "amk", cast(graph.input("a3", {70, 640}, bf16), f32), "nk", "amn");
    (cast(maximum(g, 0.0), bf16) * cast(u, bf16)).output("r0");
    EXPECT_GE(cases.add(graph), 2u);
  }
  cases.run(4, true);
}

// One sum needs another: the norm of a sum of a row and of another one's norm.
TEST(CudaRowSums, may_need_each_other) {
  SumCases cases;
  for (const int64_t rows : {1, 3}) {
    Graph graph;
    const Tensor x = cast(graph.input("a0", {rows, 256}, bf16), f32),
                 o = cast(graph.input("a1", {rows, 256}, bf16), f32);
    const Tensor all = x + o * (sum(o * o, {-1}, true) * 0.25);
    const Tensor w = cast(graph.input("a2", {19, 256}, bf16), f32);
    product(x * (sum(all * all, {-1}, true) * 0.0009765625), "mk", w, "nk", "mn").output("r0");
    EXPECT_GE(cases.add(graph), 2u);
  }
  cases.run(8, true);
}

TEST(CudaRowSums, divide_rows) {
  SumCases cases;
  for (const int64_t depth : {256, 2560}) {
    Graph graph;
    const Tensor x = cast(graph.input("a0", {1, 1, depth}, bf16), f32);
    const Tensor normed = rms_norm(x, cast(graph.input("a1", {depth}, bf16), f32));
    const Tensor w = cast(graph.input("a2", {64, depth}, bf16), f32);
    product(normed, "abk", w, "nk", "abn").output("r0");
    EXPECT_GE(cases.add(graph), 2u);
  }
  cases.run(64, true);
}

// Columns of quantised blocks, beside which sums lie in shared memory.
TEST(CudaRowSums, stand_before_quantised_columns) {
  for (const int multiprocessors : {132, 1}) {
    SumCases cases(multiprocessors);
    for (const int64_t rows : {1, 2}) {
      Graph graph;
      const Tensor x = cast(graph.input("a0", {rows, 1024}, bf16), f32);
      const BlockType type = BlockType::q8_0;
      const Tensor raw = graph.input("a1", {48, 1024 / info(type).elements * info(type).bytes}, u8);
      product(scaled_by_squares(x), "mk", dequantise(raw, type), "nk", "mn").output("r0");
      EXPECT_GE(cases.add(graph, "gpu-blocks "), 1u);
    }
    cases.run(64, true);
  }
}

// What is refused: other reductions, rows that are stored, rows that are many or of unknown number, sums of other
// things than rows, sums of what is contracted, sums that are not f32.
TEST(CudaRowSums, are_of_few_rows_only) {
  const auto is_computed = [](const std::function<Tensor(Graph&, const Tensor&, const Tensor&)>& made,
                              int64_t rows = 2) {
    Graph graph;
    const Tensor x = cast(graph.input("a0", {rows, 256}, bf16), f32), w = cast(graph.input("a1", {40, 256}, bf16), f32);
    made(graph, x, w).output("r0");
    return kernel_schedules(*clone(graph), tests::gpu_target()).ok();
  };
  const auto by_sum = [](Graph&, const Tensor& x, const Tensor& w) {
    return product(scaled_by_squares(x), "mk", w, "nk", "mn");
  };
  EXPECT_TRUE(is_computed(by_sum));
  EXPECT_TRUE(is_computed(by_sum, 16));
  EXPECT_FALSE(is_computed(by_sum, 17));
  EXPECT_FALSE(is_computed(
      [](Graph&, const Tensor& x, const Tensor& w) { return product(x * max(x, {-1}, true), "mk", w, "nk", "mn"); }));
  EXPECT_FALSE(is_computed(
      [](Graph&, const Tensor& x, const Tensor& w) { return product(x * sum(x, {0}, true), "mk", w, "nk", "mn"); }));
  EXPECT_FALSE(is_computed(
      [](Graph&, const Tensor& x, const Tensor& w) { return product(x, "mk", w * sum(w, {-1}, true), "nk", "mn"); }));
  EXPECT_FALSE(is_computed([](Graph&, const Tensor& x, const Tensor& w) {
    const Tensor y = product(x, "mk", w, "nk", "mn");
    return y * sum(y * y, {-1}, true);
  }));
  EXPECT_FALSE(is_computed([](Graph&, const Tensor& x, const Tensor& w) {
    return product(x * cast(sum(cast(x, f64), {-1}, true), f32), "mk", w, "nk", "mn");
  }));
  EXPECT_FALSE(is_computed([](Graph&, const Tensor& x, const Tensor& w) {  // columns that are neighbours
    return product(scaled_by_squares(x), "mk", reshape(w, {256, 40}), "kn", "mn");
  }));
  Graph stored;  // a row that others wait for
  const Tensor row = cast(stored.input("a0", {1, 256}, bf16), f32),
               square = cast(stored.input("a1", {256, 256}, bf16), f32);
  scaled_by_squares(row).output("r0");
  product(scaled_by_squares(row), "mk", square, "nk", "mn").output("r1");
  EXPECT_FALSE(kernel_schedules(*clone(stored), tests::gpu_target()).ok());
  Graph many;
  const Expr n = many.dim("n", 1, 4);
  const Tensor x = cast(many.input("a0", {n, 256}, bf16), f32), w = cast(many.input("a1", {40, 256}, bf16), f32);
  product(scaled_by_squares(x), "mk", w, "nk", "mn").output("r0");
  EXPECT_FALSE(kernel_schedules(*clone(many), tests::gpu_target()).ok());
}

}  // namespace
}  // namespace lumen
