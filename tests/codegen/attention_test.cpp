// Attention kernels against the reference: masks, maps of scores, layouts, shared heads, sizes, symbolic dims.
#include "lumen/codegen/attention.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "lumen/backend/cpu/compiler.h"
#include "lumen/backend/cpu/target.h"
#include "lumen/codegen/print_kernel.h"
#include "tests/codegen/attention_graphs.h"

namespace lumen {
namespace {

using namespace lumen::testing;

// What the matrix unit has is all that AVX-512 has, and more.
std::vector<Target> attention_targets() {
  std::vector<Target> all;
  const cpu::Level widest = cpu::cpu().level == cpu::Level::amx ? cpu::Level::amx : cpu::Level::avx512;
  for (const cpu::Level level : {cpu::Level::generic, cpu::Level::avx2, widest}) {
    if (level <= cpu::cpu().level) all.push_back(cpu::target_of(cpu::cpu().as_if(level).value()));
  }
  return all;
}

// The first schedule of each method, and one of blocks so small that there are many of them.
std::vector<std::string> schedules_to_try(const std::vector<std::string>& proposed) {
  std::vector<std::string> all{"attention vector mr=3 nr=16 rows=6 keys=32"};
  struct Method {
    std::string name, small;
  };
  const Method methods[] = {{"attention vector", ""},
                            {"attention amx", "attention amx mr=16 nr=32 rows=32 keys=32"},
                            {"attention direct", "attention direct keys=16"}};
  for (const Method& method : methods) {
    const auto found =
        std::ranges::find_if(proposed, [&](const std::string& each) { return each.starts_with(method.name); });
    if (found == proposed.end()) continue;
    all.push_back(*found);
    if (!method.small.empty()) all.push_back(method.small);
  }
  return all;
}

// Cases that are compiled together: each body with schedules for every target.
class AttentionCases {
 public:
  void add(const Graph& graph, std::string about, const DimValues& dims = {}) {
    const std::shared_ptr<const Graph> body = clone(graph);
    std::vector<HostTensor> inputs;
    for (const NodeId id : body->inputs()) inputs.push_back(random_values((*body)[id].type, dims, random_));
    for (const Target& target : attention_targets()) {
      const auto proposed = kernel_schedules(*body, target);
      ASSERT_TRUE(proposed.ok()) << about << ": " << proposed.diag().str() << print(*body);
      for (const std::string& schedule : schedules_to_try(*proposed)) {
        const auto kernel = print_kernel(*body, "k" + std::to_string(cases_.size()), schedule, target);
        ASSERT_TRUE(kernel.ok()) << kernel.diag().str() << print(*body);
        cases_.push_back({body, inputs, dims, *kernel,
                          about + ", " + schedule + ", vectors of " + std::to_string(target.vector_bytes)});
      }
    }
  }

  AddAttention adder() {
    return [this](const Graph& graph, std::string about, const DimValues& dims) { add(graph, std::move(about), dims); };
  }

  void run() {
    std::string source = kernel_prelude(Syntax::c);
    for (const Case& each : cases_) source += each.kernel.text;
    std::string flags = "-O1 -w " LUMEN_NATIVE;
    for (const std::string& flag : kernel_c_flags()) flags += " " + flag;
    const CompiledText compiled(source, flags);
    for (const Case& each : cases_) {
      const auto [got, fault] = testing::run(each, compiled, random_);
      const std::vector<HostTensor> wanted = wanted_of(each).value();
      ASSERT_EQ(fault, 0);
      for (size_t k = 0; k < wanted.size(); ++k) {
        expect_same(got[k], wanted[k], wanted[k].dtype == f32 ? 64 : 4, each, 1);
      }
      if (::testing::Test::HasFatalFailure()) return;
    }
  }

 private:
  std::vector<Case> cases_;
  std::mt19937_64 random_{std::random_device{}()};
};

TEST(Attention, attends_at_every_size) {
  AttentionCases cases;
  add_sizes_of_attention(cases.adder());
  cases.run();
}

TEST(Attention, maps_scores) {
  AttentionCases cases;
  add_score_maps(cases.adder());
  cases.run();
}

TEST(Attention, skips_blocks_of_keys) {
  AttentionCases cases;
  add_skipping(cases.adder());
  cases.run();
}

TEST(Attention, skipped_blocks_are_in_the_text) {
  Graph graph;
  const Sizes n{.rows = 300, .keys = 300};
  weighed(causal(graph, scores_of(graph, n)), values_of(graph, n)).output("r0");
  const Target target;
  const auto schedule = AttentionSchedule::parse("attention vector mr=4 nr=8 rows=8 keys=16").value();
  EXPECT_NE(print_attention(graph, "k", schedule, target).value().text.find("return 0 || (-k0 + m1 - 1) < 0;"),
            std::string::npos);
}

TEST(Attention, gives_zeros_for_rows_of_nothing_where_the_body_does) {
  AttentionCases cases;
  add_rows_of_nothing(cases.adder());
  cases.run();
}

TEST(Attention, takes_other_spellings_of_the_exponent) {
  AttentionCases cases;
  add_exponents(cases.adder());
  cases.run();
}

TEST(Attention, takes_weights_that_are_divided_before_they_are_summed) {
  AttentionCases cases;
  add_divided(cases.adder());
  cases.run();
}

TEST(Attention, shares_heads_and_reads_every_layout) {
  AttentionCases cases;
  add_shared_heads(cases.adder());
  cases.run();
}

TEST(Attention, serves_dims_of_every_size) {
  AttentionCases cases;
  add_symbolic_attention(cases.adder());
  cases.run();
}

TEST(Attention, widens_operands_and_computes_what_follows) {
  AttentionCases cases;
  add_narrow_attention(cases.adder());
  cases.run();
}

TEST(Attention, says_what_it_cannot_do) {
  const Target target;
  Graph weights;  // as an output
  const Tensor s = scores_of(weights, {});
  const Tensor e = exp2((s - max(s, {-1}, true)) * kLog2e);
  e.output("r0");
  product(e, "bhqk", values_of(weights, {}), "bhkd", "bhqd").output("r1");
  EXPECT_FALSE(attention_schedules(weights, target).ok());
  Graph falling;  // weights that grow with the maximum
  const Tensor t = scores_of(falling, {});
  const Tensor f = exp2(t + max(t, {-1}, true));
  product(f, "bhqk", values_of(falling, {}), "bhkd", "bhqd").output("r0");
  const auto schedules = attention_schedules(falling, target);
  ASSERT_FALSE(schedules.ok());
  EXPECT_EQ(schedules.diag().message,
            "the weights of attention are not Exp2 of a multiple of the scores less their maximum");
}

TEST(Attention, schedules_are_lines_of_text) {
  const std::string line = "attention vector mr=14 nr=32 rows=56 keys=128";
  EXPECT_EQ(AttentionSchedule::parse(line).value().str(), line);
  for (const char* wrong : {"", "gemm mr=1", "attention", "attention vector mr=", "attention vector zr=1"}) {
    EXPECT_FALSE(AttentionSchedule::parse(wrong).ok()) << wrong;
  }
}

}  // namespace
}  // namespace lumen
