// A rule that nothing fires is untested, and likely dead.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "lumen/search/saturate.h"
#include "tests/rules/samples.h"

namespace lumen {
namespace {

using testing::Sample;

TEST(Coverage, every_rule_changes_some_sample) {
  std::map<std::string, uint64_t> unions;
  for (const std::vector<Sample>& samples :
       {testing::function_samples(), testing::elementwise_samples(), testing::attention_samples()}) {
    for (const Sample& sample : samples) {
      const Saturated saturated = saturate(*sample.graph).value();
      EXPECT_EQ(saturated.report().limit, "") << sample.name;
      for (const egraph::RuleReport& rule : saturated.report().rules) unions[rule.name] += rule.unions;
    }
  }
  EXPECT_GT(unions.size(), 100u);
  for (const auto& [rule, times] : unions) EXPECT_GT(times, 0u) << "no sample is changed by the rule " << rule;
}

TEST(Coverage, random_programs_of_a_sample_differ) {
  const Sample sample = testing::attention_samples()[0];
  Saturated saturated = saturate(*sample.graph).value();
  std::set<uint64_t> programs;
  for (uint64_t seed = 0; seed < 32; ++seed) programs.insert(extract_random(saturated, seed).value()->hash());
  EXPECT_GT(programs.size(), 24u);
  EXPECT_EQ(extract_random(saturated, 5).value()->hash(), extract_random(saturated, 5).value()->hash());
}

}  // namespace
}  // namespace lumen
