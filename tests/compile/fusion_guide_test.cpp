// A fusion profile and gates decide what becomes one kernel.
#include "lumen/search/fusion_guide.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "lumen/backend/cpu/cpu_device.h"
#include "lumen/compile.h"
#include "lumen/frontend/ops.h"
#include "lumen/fusion_patterns.h"
#include "tests/support/scratch_dir.h"

namespace lumen {
namespace {

using search::FusionDecision;
using search::FusionProfile;

// Of this machine: `pattern` takes these times at [1, 64, 128].
FusionProfile profile_of(const std::string& pattern, double fused, double unfused) {
  const auto device = cpu::CpuDevice::find().value();
  FusionProfile profile;
  profile.hardware = device->fingerprint();
  profile.setting = device->setting();
  profile.patterns[pattern][{1, 64, 128}] = {fused, unfused, 0, 0};
  return profile;
}

class Guided : public ::testing::Test {
 protected:
  CompileOptions with(const FusionProfile& profile) {
    const std::string file = scratch_ / "profile.json";
    std::ofstream(file) << print_fusion_profile(profile);
    CompileOptions options;
    options.measure = options.verify = false;
    options.fusion_profile = file;
    options.fusion_log = &log_;
    return options;
  }
  static size_t calls(const Graph& graph, const CompileOptions& options) {
    return compile_program(graph, options).variants[0].binary.program.calls.size();
  }

  tests::ScratchDir scratch_;
  std::vector<FusionDecision> log_;
};

std::shared_ptr<Graph> pattern_graph(std::string_view name, DType dtype = f32) {
  auto graph = std::make_shared<Graph>();
  build_fusion_pattern(name, *graph, {64, 128}, dtype);
  return graph;
}

// Every pattern is found as what it is, whichever way its numbers say.
TEST_F(Guided, every_pattern_is_decided_by_the_profile) {
  for (const std::string_view name : fusion_pattern_names()) {
    const std::string pattern(name);
    log_.clear();
    EXPECT_EQ(calls(*pattern_graph(name), with(profile_of(pattern, 1, 2))), 1u) << name;
    EXPECT_GT(calls(*pattern_graph(name), with(profile_of(pattern, 2, 1))), 1u) << name;
    ASSERT_EQ(log_.size(), 2u) << name;
    EXPECT_EQ(log_[0].str(), "fused    " + pattern + " [1, 64, 128]: 1 ms fused, 2 ms unfused (exact)");
    EXPECT_EQ(log_[1].str(), "unfused  " + pattern + " [1, 64, 128]: 2 ms fused, 1 ms unfused (exact)");
  }
}

// No pattern is taken for another one.
TEST_F(Guided, a_pattern_is_itself_alone) {
  for (const std::string_view name : fusion_pattern_names()) {
    for (const std::string_view other : fusion_pattern_names()) {
      if (name == other) continue;
      log_.clear();
      calls(*pattern_graph(name), with(profile_of(std::string(other), 2, 1)));
      for (const FusionDecision& each : log_) EXPECT_NE(each.what, other) << name;
    }
  }
}

TEST_F(Guided, other_shapes_constants_and_ranks_are_the_same_pattern) {
  auto graph = std::make_shared<Graph>();
  const Expr seq = graph->dim("seq", 1, 4096);
  rms_norm(graph->input("x", {2, 3, seq, 96}), graph->input("w", {96}), 1e-3).output("y");
  calls(*graph, with(profile_of("rms_norm", 1, 2)));
  ASSERT_EQ(log_.size(), 1u);
  EXPECT_EQ(log_[0].str(), "fused    rms_norm [6, 512, 96]: 1 ms fused, 2 ms unfused (nearest: of [1, 64, 128])");
}

TEST_F(Guided, other_dtypes_and_other_ops_are_not) {
  calls(*pattern_graph("gelu", bf16), with(profile_of("gelu", 2, 1)));
  auto graph = std::make_shared<Graph>();
  const Tensor x = graph->input("x", {64, 128});
  exp2(gelu(x)).output("y");
  EXPECT_EQ(calls(*graph, with(profile_of("gelu", 2, 1))), 1u);
  for (const FusionDecision& each : log_) EXPECT_NE(each.what, "gelu");
}

TEST_F(Guided, the_margin_counts) {
  CompileOptions options = with(profile_of("swiglu", 1, 1.04));
  EXPECT_EQ(calls(*pattern_graph("swiglu"), options), 1u);
  options.fusion_gates.margin = 0.05;
  EXPECT_GT(calls(*pattern_graph("swiglu"), options), 1u);
  EXPECT_EQ(log_.back().str(),
            "unfused  swiglu [1, 64, 128]: 1 ms fused, 1.04 ms unfused (exact: it must gain margin=0.05)");
}

TEST_F(Guided, always_and_never_ask_no_profile) {
  CompileOptions options = with(profile_of("swiglu", 2, 1));
  options.fusion = FusionPolicy::always;
  EXPECT_EQ(calls(*pattern_graph("swiglu"), options), 1u);
  options.fusion_gates.min_nodes = 100;
  EXPECT_EQ(calls(*pattern_graph("swiglu"), options), 1u);
  EXPECT_TRUE(log_.empty());
}

TEST_F(Guided, gates_keep_ops_apart) {
  CompileOptions options;
  options.measure = options.verify = false;
  options.fusion_log = &log_;
  const std::shared_ptr<Graph> graph = pattern_graph("gelu_tanh");
  ASSERT_EQ(calls(*graph, options), 1u);
  options.fusion_gates = {.min_tensor_elements = 64 * 128};
  EXPECT_EQ(calls(*graph, options), 1u);
  options.fusion_gates = {.min_tensor_elements = 64 * 128 + 1};
  const size_t apart = calls(*graph, options);
  EXPECT_GT(apart, 3u);
  ASSERT_FALSE(log_.empty());
  EXPECT_NE(log_.back().str().find("(gate: 8192 elements, fewer than min_tensor_elements=8193)"), std::string::npos)
      << log_.back().str();
  options.fusion_gates = {.min_nodes = 100};
  EXPECT_EQ(calls(*graph, options), apart);
  options.fusion_gates = {.max_graph_size = 2};
  const size_t pairs = calls(*graph, options);
  EXPECT_LT(pairs, apart);
  EXPECT_GE(2 * pairs, apart);
  EXPECT_TRUE(std::ranges::any_of(log_, [](const FusionDecision& each) {
    return !each.fuse && each.note.ends_with(" ops, more than max_graph_size=2");
  })) << print_decisions(log_);
}

// Nothing is fused without a line.
TEST_F(Guided, what_has_no_alternative_is_in_the_log) {
  CompileOptions options;
  options.measure = options.verify = false;
  options.fusion_log = &log_;
  ASSERT_EQ(calls(*pattern_graph("swiglu"), options), 1u);
  ASSERT_EQ(log_.size(), 1u);
  EXPECT_EQ(log_[0].source, "no cut");
  EXPECT_TRUE(log_[0].fuse);
}

// What is repeated is one group with what repeats it, which is not what was profiled; what a cut leaves of it is.
TEST_F(Guided, what_a_cut_leaves_is_decided_by_the_profile) {
  auto graph = std::make_shared<Graph>();
  const Tensor x = graph->input("x", {64, 1, 128}), y = graph->input("y", {64, 50, 128});
  (gelu(x) + y).output("r");
  calls(*graph, with(profile_of("gelu", 2, 1)));
  EXPECT_TRUE(std::ranges::any_of(log_, [](const FusionDecision& each) { return each.what == "gelu" && !each.fuse; }))
      << print_decisions(log_);
}

TEST_F(Guided, another_machine_is_refused_unless_it_was_asked_for) {
  FusionProfile profile = profile_of("swiglu", 2, 1);
  profile.hardware = "another";
  CompileOptions options = with(profile);
  const std::shared_ptr<Graph> graph = pattern_graph("swiglu");
  try {
    compile_program(*graph, options);
    FAIL() << "it was taken";
  } catch (const Error& problem) {
    EXPECT_NE(std::string(problem.what()).find("of other hardware: another"), std::string::npos) << problem.what();
  }
  options.fusion_profile_of_another = true;
  EXPECT_GT(calls(*graph, options), 1u);
}

// A line on stderr when a profile had nothing to say, with the reason.
TEST_F(Guided, a_profile_that_decides_nothing_is_named) {
  const auto said = [&](const Graph& graph, const FusionProfile& profile) {
    CompileOptions options = with(profile);
    options.fusion_profile_of_another = true;
    ::testing::internal::CaptureStderr();
    compile_program(graph, options);
    std::string text = ::testing::internal::GetCapturedStderr();
    const size_t at = text.find(options.fusion_profile + ": ");
    return at == std::string::npos ? text : text.substr(at + options.fusion_profile.size() + 2);
  };
  FusionProfile profile = profile_of("gelu", 2, 1);
  EXPECT_EQ(said(*pattern_graph("gelu"), profile), "");
  EXPECT_EQ(said(*pattern_graph("swiglu"), profile),
            "nothing was decided by this profile: no group of ops is just one of gelu\n");
  EXPECT_EQ(said(*pattern_graph("gelu", bf16), profile),
            "nothing was decided by this profile: the profile is of f32, the program computes in bf16\n");
  profile.patterns["gelu"] = {{{64, 128}, {2, 1, 0, 0}}};
  EXPECT_EQ(
      said(*pattern_graph("gelu"), profile),
      "nothing was decided by this profile: [64, 128] is a shape of 2 dims, and shapes are looked up as 3: batch, "
      "sequence, width\n");
  profile = profile_of("gelu", 2, 1);
  profile.hardware = "another";
  EXPECT_TRUE(said(*pattern_graph("gelu"), profile).starts_with("the times are of other hardware (another "));
  profile.hardware = "";
  EXPECT_EQ(said(*pattern_graph("gelu"), profile), "the times are of unknown hardware: no \"meta\" names it\n");
}

TEST_F(Guided, what_is_unfused_computes_the_same) {
  auto graph = pattern_graph("add+layer_norm");
  CompileOptions options = with(profile_of("add+layer_norm", 2, 1));
  options.verify = true;
  EXPECT_GT(calls(*graph, options), 1u);
}

TEST_F(Guided, what_was_measured_is_in_the_log) {
  auto graph = std::make_shared<Graph>();
  const Tensor x = graph->input("x", {64, 96}), w = graph->input("w", {96, 80});
  relu(matmul(exp2(x), w)).output("y");
  CompileOptions options;
  options.fusion_log = &log_;
  compile_program(*graph, options);
  ASSERT_FALSE(log_.empty());
  for (const FusionDecision& each : log_) EXPECT_EQ(each.source, "measured");
}

}  // namespace
}  // namespace lumen
