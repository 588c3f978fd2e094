// Bodies of attention with schedules for a GPU, emulated and compared with the reference.
#pragma once

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <utility>
#include <vector>

#include "lumen/codegen/print_kernel.h"
#include "tests/codegen/attention_graphs.h"
#include "tests/codegen/cuda_emulator.h"
#include "tests/support/gpu_target.h"

namespace lumen::testing {

// Each body with a schedule proposed, the first one more often than others, and with those of `more` that fit it; a
// large one with one of these.
class CudaAttentionCases {
 public:
  explicit CudaAttentionCases(std::vector<std::string> more = {}) : more_(std::move(more)) {}

  // Integers of inputs are in `integers`.
  void add(const Graph& graph, const std::string& about, const DimValues& dims = {},
           std::pair<int64_t, int64_t> integers = {0, 1}) {
    const std::shared_ptr<const Graph> body = clone(graph);
    std::vector<HostTensor> inputs;
    for (const NodeId id : body->inputs()) {
      inputs.push_back(random_values((*body)[id].type, dims, random_));
      if (!is_int((*body)[id].type.dtype)) continue;
      const auto [lo, hi] = integers;
      for (Lane& lane : inputs.back().lanes) {
        lane = Scalar::of((*body)[id].type.dtype,
                          lo + static_cast<int64_t>(random_() % static_cast<uint64_t>(hi - lo + 1)))
                   .value;
      }
    }
    const auto proposed = kernel_schedules(*body, tests::gpu_target());
    ASSERT_TRUE(proposed.ok()) << about << ": " << proposed.diag().str() << print(*body);
    EXPECT_LE(proposed->size(), 6u);
    std::vector<std::string> schedules{(*proposed)[random_() % 2 == 0 ? 0 : random_() % proposed->size()]};
    if (!is_large(*body, dims)) schedules.insert(schedules.end(), more_.begin(), more_.end());
    for (const std::string& schedule : schedules) {
      const auto kernel = print_kernel(*body, "k" + std::to_string(kernels_.size()), schedule, tests::gpu_target());
      const bool may_not_fit = std::ranges::find(more_, schedule) != more_.end();
      if (!kernel.ok() && may_not_fit) continue;
      ASSERT_TRUE(kernel.ok()) << kernel.diag().str() << print(*body);
      kernels_.push_back(*kernel);
      cases_.push_back({body, inputs, dims, *kernel, about + ", " + schedule});
    }
  }
  AddAttention adder() {
    return [this](const Graph& graph, const std::string& about, const DimValues& dims) { add(graph, about, dims); };
  }

  // In so many blocks; in some number of them if that is 0.
  void run(int64_t blocks = 0) {
    for (Case& each : cases_) each.blocks = blocks;
    const auto expect = [](const HostTensor& got, const HostTensor& wanted, const Case& each) {
      expect_same(got, wanted, wanted.dtype == f32 ? 64 : 4, each, 1);
    };
    expect_emulated(kernels_, cases_, random_, expect);
  }
  size_t size() const { return kernels_.size(); }

 private:
  static bool is_large(const Graph& body, const DimValues& dims) {
    constexpr int64_t kLarge = 1 << 17;
    return std::ranges::any_of(body.order(),
                               [&](NodeId id) { return evaluate(body[id].type.shape.numel(), dims).value() > kLarge; });
  }

  std::vector<std::string> more_;
  std::vector<KernelText> kernels_;
  std::vector<Case> cases_;
  std::mt19937_64 random_{std::random_device{}()};
};

}  // namespace lumen::testing
