// Norms of heads inside the kernels that read them, a scatter into a cache and attention of few rows: emulated, against
// the reference.
#include <gtest/gtest.h>

#include <cmath>

#include "lumen/codegen/print_kernel.h"
#include "tests/codegen/attention_graphs.h"
#include "tests/codegen/cuda_emulator.h"
#include "tests/support/gpu_target.h"

namespace lumen {
namespace {

using namespace lumen::testing;

// Input `whole` gets whole numbers: sums of their squares are exact in any order, so that what is rounded to bf16
// afterwards is rounded alike. (Of others one in 3,000 rows is not, which changes what attention gives by up to 4e-4.)
void expect_computed(const Graph& graph, std::string_view kind, double units, std::string_view whole = "") {
  const std::shared_ptr<const Graph> body = clone(graph);
  const auto schedules = kernel_schedules(*body, tests::gpu_target());
  ASSERT_TRUE(schedules.ok()) << schedules.diag().str() << print(*body);
  std::vector<KernelText> kernels;
  std::vector<Case> cases;
  std::mt19937_64 random{std::random_device{}()};
  for (const std::string& schedule : *schedules) {
    EXPECT_TRUE(schedule.starts_with(kind)) << schedule;
    kernels.push_back(print_kernel(*body, "k" + std::to_string(kernels.size()), schedule, tests::gpu_target()).value());
    Case& made = cases.emplace_back(Case{body, {}, {}, kernels.back(), schedule});
    for (const NodeId id : body->inputs()) {
      HostTensor& input = made.inputs.emplace_back(random_values((*body)[id].type, {}, random));
      if ((*body)[id].as<Input>().name.str() != whole) continue;
      for (Lane& lane : input.lanes) lane.f = std::copysign(1 + std::round(std::fabs(lane.f) * 4), lane.f);
    }
  }
  const auto expect = [&](const HostTensor& got, const HostTensor& wanted, const Case& each) {
    expect_same(got, wanted, units, each, largest(wanted.lanes));
  };
  expect_emulated(kernels, cases, random, expect);
}

TEST(CudaHeadSums, are_computed_by_what_stores_heads) {
  for (const int64_t depth : {128, 64, 40, 256}) {
    Graph graph;
    const Tensor cache = graph.input("a0", {24, depth}, bf16), at = graph.input("a1", {2}, i64);
    const Tensor k = cast(graph.input("a2", {2, depth}, bf16), f32), weight = graph.input("a3", {depth});
    const Tensor normed = rms_norm(k, weight);
    const Tensor turned = normed * 0.5 + roll(normed, depth / 2, -1) * 0.25;
    index_copy(cache, 0, at, cast(turned, bf16)).output("r0");
    expect_computed(graph, "gpu-scatter", 4);
  }
}

TEST(CudaHeadSums, are_computed_by_attention) {
  for (const bool shared : {false, true}) {
    Graph graph;
    const int64_t heads = 4, depth = 64, keys = 70, kept = shared ? 2 : heads;
    const Tensor q = rms_norm(cast(graph.input("a0", {1, heads, 1, depth}, bf16), f32), graph.input("a3", {depth}));
    const Tensor rounded = cast(cast(q, bf16), f32);
    const auto all = [&](const char* name) {
      const Tensor x = cast(graph.input(name, {1, kept, keys, depth}, bf16), f32);
      return shared ? reshape(lumen::expand(unsqueeze(x, 2), {1, kept, heads / kept, keys, depth}),
                              {1, heads, keys, depth})
                    : x;
    };
    const Tensor k = all("a1"), v = all("a2");
    weighed(product(rounded, "bhqd", k, "bhkd", "bhqk") * 0.4, v).output("r0");
    expect_computed(graph, "gpu-decode", 256, "a0");
  }
}

}  // namespace
}  // namespace lumen
