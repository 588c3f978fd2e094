// Whatever comes out of an e-graph must compute what went in.
#include <gtest/gtest.h>

#include "lumen/ir/text.h"
#include "lumen/search/rewrite.h"
#include "tests/rules/samples.h"
#include "tests/support/graphs/random_graph.h"

namespace lumen {
namespace {

using testing::agree;
using testing::random_inputs;
using testing::run_expanded;
using testing::Sample;

struct Given {
  const Graph& graph;
  const std::vector<HostTensor>& inputs;
  const DimValues& dims;
};

// Of several programs taken at random, the first that disagrees; null when none does.
std::shared_ptr<Graph> find_wrong(const Given& given, const SaturateOptions& options, uint64_t programs,
                                  std::string* how) {
  const std::vector<HostTensor> wanted = run_expanded(given.graph, given.inputs, given.dims);
  Saturated saturated = saturate(given.graph, options).value();
  for (uint64_t seed = 0; seed < programs; ++seed) {
    const std::shared_ptr<Graph> graph = extract_random(saturated, seed).value();
    const auto same = agree(run_expanded(*graph, given.inputs, given.dims), wanted, options.rounding);
    if (same) continue;
    *how = same.message();
    return graph;
  }
  return nullptr;
}

// The rules without which all is well, each alone; what to look at first.
std::string blamed(const Given& given, const SaturateOptions& options, uint64_t programs) {
  std::string names;
  Saturated saturated = saturate(given.graph, options).value();
  for (const egraph::RuleReport& rule : saturated.report().rules) {
    if (rule.matches == 0) continue;
    SaturateOptions without = options;
    without.without.push_back(rule.name);
    std::string how;
    if (find_wrong(given, without, programs, &how) == nullptr) names += " " + rule.name;
  }
  return names.empty() ? " (no single one)" : names;
}

void expect_sound(const Given& given, const SaturateOptions& options, const std::string& about, uint64_t programs) {
  std::string how;
  const std::shared_ptr<Graph> wrong = find_wrong(given, options, programs, &how);
  if (wrong == nullptr) return;
  ADD_FAILURE() << about << ": " << how << "\nfine without:" << blamed(given, options, programs) << "\n"
                << print(given.graph) << print(*wrong);
}

TEST(Soundness, exact_rules_change_no_bit_of_random_graphs) {
  SaturateOptions options;
  options.rounding = false;
  for (uint64_t seed = 1000; seed < 1200; ++seed) {
    const testing::RandomGraph random = testing::make_random_graph(seed);
    expect_sound({*random.graph, random.inputs, random.dims}, options, "seed " + std::to_string(seed), 6);
    if (HasFailure()) return;
  }
}

TEST(Soundness, rules_come_to_an_end_on_random_graphs) {
  for (uint64_t seed = 2300; seed < 2450; ++seed) {
    const testing::RandomGraph random = testing::make_random_graph(seed);
    const Saturated saturated = saturate(*random.graph).value();
    EXPECT_EQ(saturated.report().limit, "") << "seed " << seed << "\n" << saturated.report().text();
  }
}

// Every sample, with and without rules that change rounding.
void expect_sound_samples(const std::vector<Sample>& samples, uint64_t programs) {
  for (const Sample& sample : samples) {
    for (const bool rounding : {false, true}) {
      SaturateOptions options;
      options.rounding = rounding;
      const std::vector<HostTensor> inputs = random_inputs(*sample.graph, sample.dims, 7 + programs);
      expect_sound({*sample.graph, inputs, sample.dims}, options, sample.name, programs);
    }
  }
}

TEST(Soundness, programs_for_functions_agree) { expect_sound_samples(testing::function_samples(), 32); }
TEST(Soundness, programs_for_elementwise_ops_agree) { expect_sound_samples(testing::elementwise_samples(), 12); }
TEST(Soundness, programs_for_attention_agree) { expect_sound_samples(testing::attention_samples(), 32); }
TEST(Soundness, programs_for_a_transformer_block_agree) {
  expect_sound_samples({testing::transformer_block({}, f32), testing::transformer_block({.max_seq = 9}, bf16)}, 32);
}

}  // namespace
}  // namespace lumen
