#include <gtest/gtest.h>

#include <cmath>

#include "lumen/text/sampler.h"
#include "tests/support/counted_memory.h"

namespace lumen {
namespace {

TEST(Sampler, AllocatesNothingAfterTheFirstToken) {
  SamplingOptions options;
  options.top_p = 0.9F;
  options.min_p = 0.001F;
  options.repetition_penalty = 1.1F;
  options.logit_bias = {{3, 1.0F}};
  options.top_logprobs = 5;
  Sampler sampler = Sampler::make(options, 2000).value();
  std::vector<float> logits(2000);
  for (size_t k = 0; k < logits.size(); ++k) logits[k] = std::sin(static_cast<float>(k));
  ASSERT_TRUE(sampler.sample(logits).ok());
  const size_t before = testing::allocations;
  bool fine = true;
  for (int k = 0; k < 200; ++k) fine = fine && sampler.sample(logits).ok();
  const size_t after = testing::allocations;
  EXPECT_EQ(after, before);
  EXPECT_TRUE(fine);
}

TEST(Sampler, AllocatesNothingForCandidates) {
  Sampler sampler = Sampler::make({.top_k = 3, .top_p = 0.9F}, 2000).value();
  const std::vector<float> logits = {3, 2, 1, 0};
  const std::vector<int32_t> ids = {7, 1999, 0, 5};
  const size_t before = testing::allocations;
  bool fine = true;
  for (int k = 0; k < 200; ++k) fine = fine && sampler.sample_candidates({logits, ids, 2, 1}).has_value();
  const size_t after = testing::allocations;
  EXPECT_EQ(after, before);
  EXPECT_TRUE(fine);
}

}  // namespace
}  // namespace lumen
