// Kernels that are one launch on a GPU: each computes what it computes alone.
#include "lumen/codegen/cuda_together.h"

#include <gtest/gtest.h>

#include "lumen/codegen/print_kernel.h"
#include "tests/codegen/contract_graphs.h"
#include "tests/codegen/cuda_emulator.h"
#include "tests/support/gpu_target.h"

namespace lumen {
namespace {

using namespace lumen::testing;

class Joint {
 public:
  void add(const Graph& graph, const std::string& word, const DimValues& dims = {}) {
    const std::shared_ptr<const Graph> body = clone(graph);
    const std::vector<std::string> schedules = kernel_schedules(*body, tests::gpu_target()).value();
    for (const std::string& schedule : schedules) {
      if (schedule.substr(0, schedule.find(' ')) != word) continue;
      const std::string name = "k" + std::to_string(cases_.size());
      Case& made = cases_.emplace_back(
          Case{body, {}, dims, print_kernel(*body, name, schedule, tests::gpu_target()).value(), schedule});
      for (const NodeId id : body->inputs()) made.inputs.push_back(small_integers((*body)[id].type, dims, random_));
      kinds_.push_back(joint_kind(schedule, made.kernel.steps));
      return;
    }
    FAIL() << "no " << word << " of\n" << print(graph);
  }

  void run() {
    std::vector<const KernelStep*> steps;
    std::vector<const std::string*> texts;
    std::vector<KernelText> kernels;
    for (size_t k = 0; k < cases_.size(); ++k) {
      ASSERT_NE(kinds_[k], "");
      ASSERT_EQ(kinds_[k], kinds_[0]);
      steps.push_back(&cases_[k].kernel.steps.back());
      texts.push_back(&cases_[k].kernel.text);
      kernels.push_back(cases_[k].kernel);
    }
    KernelText joint;
    joint.text = print_joint(steps, texts);
    joint.steps.push_back({joint_step(steps).name, Expr(1)});
    kernels.push_back(joint);
    const Emulated emulated(kernels);
    for (int round = 0; round < 4; ++round) {
      const std::vector<std::vector<HostTensor>> got = emulated.run_joint(cases_, random_);
      for (size_t k = 0; k < cases_.size(); ++k) {
        const std::vector<HostTensor> wanted = wanted_of(cases_[k]).value();
        for (size_t n = 0; n < wanted.size(); ++n) expect_same(got[k][n], wanted[n], 4, cases_[k]);
      }
    }
  }

 private:
  std::vector<Case> cases_;
  std::vector<std::string> kinds_;
  std::mt19937_64 random_{7};
};

TEST(CudaTogether, dots_of_other_sizes_are_one_launch) {
  Joint joint;
  for (const auto& [columns, dtype] : {std::pair{96, bf16}, {33, bf16}, {1, f16}}) {
    Graph graph;
    const Tensor x = cast(graph.input("a0", {1, 256}, bf16), f32);
    const Tensor w = cast(graph.input("a1", {columns, 256}, dtype), f32);
    cast(product(x, "mk", w, "nk", "mn"), bf16).output("r0");
    joint.add(graph, "gpu-dot");
  }
  joint.run();
}

TEST(CudaTogether, folds_and_maps_of_symbolic_sizes) {
  Joint folds;
  for (const int64_t rows : {1, 5}) {
    Graph graph;
    const Expr n = graph.dim("n", 1, 9);
    sum(square(graph.input("a0", {n, 128})), {1}).output("r0");
    folds.add(graph, "fold", DimValues{{"n", rows}});
  }
  folds.run();
  Joint maps;
  for (const DType dtype : {f32, bf16}) {
    Graph graph;
    (graph.input("a0", {7, 40}, dtype) + graph.input("a1", {7, 40}, dtype)).output("r0");
    maps.add(graph, "map");
  }
  maps.run();
}

TEST(CudaTogether, large_kernels_and_those_of_several_steps_are_alone) {
  const KernelStep plain{"k", Expr(1)};
  KernelStep copies{"c", Expr(1)}, multiplies{"p", Expr(1)}, narrow{"n", Expr(1)};
  copies.copies = true;
  multiplies.product.emplace();
  narrow.threads = 32;
  EXPECT_EQ(joint_kind("map", std::vector{plain}), "map 256");
  EXPECT_EQ(joint_kind("gpu-scatter", std::vector{copies, narrow}), "scatter 32");
  EXPECT_EQ(joint_kind("gpu-scatter", std::vector{plain, narrow}), "");
  EXPECT_EQ(joint_kind("gpu-dot rows=1", std::vector{plain}), "product 256");
  EXPECT_EQ(joint_kind("gpu-blocks rows=1", std::vector{plain}), "product 256");
  EXPECT_EQ(joint_kind("gpu-mma rows=64", std::vector{plain}), "");
  EXPECT_EQ(joint_kind("gpu-dot rows=1", std::vector{multiplies}), "");
  EXPECT_EQ(joint_kind("map", {}), "");
}

}  // namespace
}  // namespace lumen
