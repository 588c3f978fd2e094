// Kernels that are one launch: which other schedules of theirs are tried together.
#include "lumen/search/launches.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "lumen/backend/cuda/joint_texts.h"
#include "lumen/codegen/codegen_version.h"
#include "lumen/codegen/print_kernel.h"
#include "lumen/frontend/ops.h"
#include "lumen/ir/text.h"
#include "lumen/search/rewrite.h"
#include "tests/support/drawn_gpu.h"

namespace lumen::search {
namespace {

// The products for queries, keys and values, of which every schedule has a time in the database: the first that is
// proposed is the fastest, every other one takes `step` longer.
class Launches : public ::testing::Test {
 protected:
  void know_times(double step) {
    const Lowered lowered = made();
    for (const ProgramKernel& kernel : lowered.program.kernels) {
      double seconds = 1e-5;
      std::vector<TuningEntry> entries;
      const std::vector<std::string> schedules = kernel_schedules(*kernel.body, device_.target()).value();
      for (const std::string& schedule : schedules) {
        TuningEntry& entry = entries.emplace_back();
        entry.fingerprint = device_.fingerprint();
        entry.kernel = print(*kernel.body);
        entry.shape = fmt::format(" code={}{}", codegen_version(), device_.target().library ? " library" : "");
        entry.schedule = schedule;
        entry.seconds = seconds;
        entry.trials = 9;
        seconds *= 1 + step;
      }
      ASSERT_TRUE(db_.keep(entries).ok());
    }
  }

  Lowered made() {
    Graph graph;
    const Tensor x = graph.input("x", {1, 1, 2048}, bf16);
    for (const auto& [name, size] : {std::pair{"q", 2048}, {"k", 512}, {"v", 512}}) {
      linear(x, graph.input(std::string("w") + name, {size, 2048}, bf16, InputKind::weight)).output(name);
    }
    Tuner tuner(device_, {{}, false, &db_});
    RewriteOptions options;
    options.candidates = 1;
    options.machine = machine_like(device_.target());
    return lower(rewrite(graph, options).value().candidates[0].graph, FusionPolicy::always, tuner).value();
  }

  std::vector<Lowered> others(const Lowered& lowered) {
    const std::vector<std::vector<uint32_t>> together = cuda::joint_kernels(lowered.program);
    EXPECT_EQ(together.size(), 1u);
    Tuner tuner(device_, {{}, false, &db_});
    return with_other_launch(lowered, together.at(0), tuner).value();
  }

  // Of all blocks of a program; and the shared memory of one.
  static std::pair<int64_t, int64_t> needs(const Program& program) {
    int64_t blocks = 0, shared = 0;
    for (const ProgramCall& call : program.calls) {
      const KernelStep& step = program.kernels[call.kernel].text.steps.back();
      blocks += *step.rows.constant() / step.block_rows;
      shared = std::max(shared, step.shared);
    }
    return {blocks, shared};
  }

  tests::DrawnGpu device_;
  TuningDb db_ = TuningDb::open(":memory:").value();
};

TEST_F(Launches, are_tried_with_less_memory_and_fewer_blocks) {
  know_times(0.02);
  const Lowered best = made();
  const std::vector<Lowered> tried = others(best);
  ASSERT_FALSE(tried.empty());
  EXPECT_LE(tried.size(), 8u);
  const auto [blocks, shared] = needs(best.program);
  bool less = false, fewer = false;
  for (const Lowered& other : tried) {
    EXPECT_EQ(other.groups, best.groups);
    EXPECT_EQ(other.program.calls.size(), best.program.calls.size());
    less |= needs(other.program).second < shared;
    fewer |= needs(other.program).first < blocks;
    const auto same = [](const ProgramKernel& a, const ProgramKernel& b) { return a.schedule == b.schedule; };
    EXPECT_FALSE(std::ranges::equal(other.program.kernels, best.program.kernels, same));
  }
  EXPECT_TRUE(less || fewer);
}

TEST_F(Launches, are_not_tried_with_slow_kernels_nor_where_nothing_was_measured) {
  EXPECT_TRUE(others(made()).empty());
  know_times(0.2);
  EXPECT_TRUE(others(made()).empty());
}

}  // namespace
}  // namespace lumen::search
