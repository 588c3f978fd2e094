#include "lumen/text/sampler.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>

#include "lumen/text/exponential.h"

namespace lumen {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

std::string refusal(const SamplingOptions& options, int32_t size = 4) {
  const Expected<Sampler> sampler = Sampler::make(options, size);
  return sampler.ok() ? "no error" : sampler.diag().str();
}

TEST(Sampler, RefusesBadOptions) {
  EXPECT_EQ(refusal({.temperature = -1}), "sampling: temperature is -1; it must be 0 or more");
  EXPECT_EQ(refusal({.temperature = kNan}), "sampling: temperature is nan; it must be 0 or more");
  EXPECT_EQ(refusal({.top_k = -1}), "sampling: top_k is -1; it must be 0 (all) or more");
  EXPECT_EQ(refusal({.top_p = 0}), "sampling: top_p is 0; it must be above 0, at most 1");
  EXPECT_EQ(refusal({.top_p = 1.5}), "sampling: top_p is 1.5; it must be above 0, at most 1");
  EXPECT_EQ(refusal({.min_p = kNan}), "sampling: min_p is nan; it must be from 0 to 1");
  EXPECT_EQ(refusal({.repetition_penalty = 0}), "sampling: repetition_penalty is 0; it must be above 0");
  EXPECT_EQ(refusal({.frequency_penalty = kInfinity}), "sampling: frequency_penalty is inf; it must be a number");
  EXPECT_EQ(refusal({.logit_bias = {{4, 1}}}), "sampling: a token of logit_bias is 4; it must be in the vocabulary");
  EXPECT_EQ(refusal({.logit_bias = {{1, kNan}}}), "sampling: a logit_bias is nan; it must be a number or -infinity");
  EXPECT_EQ(refusal({.top_logprobs = -1}), "sampling: top_logprobs is -1; it must be 0 or more");
  EXPECT_EQ(refusal({}, 0), "sampling: the vocabulary's size is 0; it must be at least 1");
}

TEST(Sampler, RefusesBadLogits) {
  Sampler sampler = Sampler::make({}, 3).value();
  const auto message = [&](std::vector<float> logits) { return sampler.sample(logits).diag().str(); };
  EXPECT_EQ(message({1, 2}), "sampling: 2 logits for a vocabulary of 3");
  EXPECT_EQ(message({1, kNan, 2}), "sampling: the logit of token 1 is NaN");
  EXPECT_EQ(message({1, 2, kInfinity}), "sampling: the logit of token 2 is infinity");
  EXPECT_EQ(message({-kInfinity, -kInfinity, -kInfinity}),
            "sampling: every token is forbidden: all logits are -infinity");
}

TEST(Sampler, GreedyTakesTheFirstOfTheLargest) {
  Sampler sampler = Sampler::make({.temperature = 0}, 4).value();
  EXPECT_EQ(sampler.sample(std::vector<float>{-3, -1, -1, -kInfinity})->id, 1);
  EXPECT_EQ(sampler.sample(std::vector<float>{5, 4, 3, 2})->id, 0);
}

TEST(Sampler, BiasAndPenalties) {
  const std::vector<float> logits = {2, 1.5, -1, -kInfinity};
  Sampler biased = Sampler::make({.temperature = 0, .logit_bias = {{0, -kInfinity}, {2, 3}}}, 4).value();
  EXPECT_EQ(biased.sample(logits)->id, 2);
  Sampler repeated = Sampler::make({.temperature = 0, .repetition_penalty = 2}, 4).value();
  repeated.see(std::vector<int32_t>{0, 99, -5});
  EXPECT_EQ(repeated.sample(logits)->id, 1) << "2 / 2 < 1.5";
  EXPECT_EQ(repeated.sample(logits)->id, 0) << "1 > 1.5 / 2";
  repeated.reset();
  EXPECT_EQ(repeated.sample(logits)->id, 0);
  // Each choice costs 0.4 and being chosen at all 0.3: 2, 1.3 | 1.5, 0.8 | 0.9 ...
  Sampler counted = Sampler::make({.temperature = 0, .presence_penalty = 0.3F, .frequency_penalty = 0.4F}, 4).value();
  std::vector<int32_t> ids;
  for (int k = 0; k < 5; ++k) ids.push_back(counted.sample(logits)->id);
  EXPECT_EQ(ids, (std::vector<int32_t>{0, 1, 0, 0, 1}));
}

// Chi-square of 200,000 draws against exact probabilities; below the value that chance exceeds once in 1,000.
void expect_distribution(const SamplingOptions& options, const std::vector<float>& logits,
                         const std::map<int32_t, double>& wanted) {
  Sampler sampler = Sampler::make(options, static_cast<int32_t>(logits.size())).value();
  constexpr int kDraws = 200'000;
  std::map<int32_t, int> counts;
  for (int k = 0; k < kDraws; ++k) ++counts[sampler.sample(logits)->id];
  double chi = 0, total = 0;
  for (const auto& [id, p] : wanted) {
    chi += std::pow(counts[id] - kDraws * p, 2) / (kDraws * p);
    total += p;
  }
  EXPECT_NEAR(total, 1, 1e-12);
  for (const auto& [id, count] : counts) EXPECT_TRUE(wanted.contains(id)) << "token " << id << " cannot be";
  constexpr double kCritical[] = {0, 10.83, 13.82, 16.27, 18.47, 20.52};
  EXPECT_LE(chi, kCritical[wanted.size() - 1]);
}

std::map<int32_t, double> softmax(const std::vector<std::pair<int32_t, double>>& logits) {
  double total = 0;
  for (const auto& [id, logit] : logits) total += std::exp(logit);
  std::map<int32_t, double> result;
  for (const auto& [id, logit] : logits) result[id] = std::exp(logit) / total;
  return result;
}

TEST(Sampler, DrawsFromTheExactDistribution) {
  const std::vector<float> logits = {1, 0, -1, 2, -kInfinity, 0.5};
  expect_distribution({.seed = 1}, logits, softmax({{0, 1}, {1, 0}, {2, -1}, {3, 2}, {5, 0.5}}));
  expect_distribution({.temperature = 0.5, .seed = 2}, logits, softmax({{0, 2}, {1, 0}, {2, -2}, {3, 4}, {5, 1}}));
  expect_distribution({.top_k = 2, .seed = 3}, logits, softmax({{0, 1}, {3, 2}}));
  // The probabilities are 0.523, 0.192, 0.117, 0.071, 0.026 of tokens 3, 0, 5, 1, 2 (of a sum of 14.1).
  expect_distribution({.top_p = 0.7F, .seed = 4}, logits, softmax({{0, 1}, {3, 2}}));
  expect_distribution({.top_p = 0.01F, .seed = 5}, logits, {{3, 1.0}});
  expect_distribution({.min_p = 0.2F, .seed = 6}, logits, softmax({{0, 1}, {3, 2}, {5, 0.5}}));
  expect_distribution({.top_k = 3, .top_p = 0.95F, .min_p = 0.25F, .seed = 7}, logits, softmax({{0, 1}, {3, 2}}));
}

TEST(Sampler, TopPOverALargeVocabulary) {
  std::vector<float> logits(5000, 0);
  Sampler sampler = Sampler::make({.top_p = 0.5F, .seed = 9}, 5000).value();
  for (int k = 0; k < 300; ++k) EXPECT_LT(sampler.sample(logits)->id, 2500) << "equal logits rank by id";
}

TEST(Sampler, TheSeedDecides) {
  const std::vector<float> logits = {0, 0.1F, 0.2F, 0.3F, 0.4F, 0.5F, 0.6F, 0.7F};
  const auto draws = [&](uint64_t seed) {
    Sampler sampler = Sampler::make({.seed = seed}, 8).value();
    std::vector<int32_t> ids;
    for (int k = 0; k < 12; ++k) ids.push_back(sampler.sample(logits)->id);
    return ids;
  };
  EXPECT_EQ(draws(5), draws(5));
  EXPECT_NE(draws(5), draws(6));
  EXPECT_EQ(draws(42), (std::vector<int32_t>{7, 1, 6, 7, 2, 4, 1, 2, 7, 3, 2, 6})) << "the same on every machine";
}

TEST(Sampler, LogProbabilitiesAreTheModels) {
  Sampler sampler = Sampler::make({.temperature = 0, .logit_bias = {{2, 100}}, .top_logprobs = 2}, 3).value();
  const SampledToken token = sampler.sample(std::vector<float>{1, 2, 0}).value();
  const double norm = std::log(std::exp(1.0) + std::exp(2.0) + 1);
  EXPECT_EQ(token.id, 2);
  EXPECT_FLOAT_EQ(token.logprob, static_cast<float>(-norm));
  ASSERT_EQ(token.top.size(), 2U);
  EXPECT_EQ(token.top[0].id, 1);
  EXPECT_FLOAT_EQ(token.top[0].logprob, static_cast<float>(2 - norm));
  EXPECT_EQ(token.top[1].id, 0);
}

TEST(Sampler, OwnExponentialIsExact) {
  for (double x = 0; x > -690; x -= 0.0137) {
    EXPECT_NEAR(text::exp_of_nonpositive(x) / std::exp(x), 1, 5e-16) << x;
  }
  EXPECT_EQ(text::exp_of_nonpositive(0), 1);
  EXPECT_EQ(text::exp_of_nonpositive(-1e300), 0);
}

}  // namespace
}  // namespace lumen
