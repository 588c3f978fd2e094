#include "lumen/text/sampler.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <random>

#include "lumen/text/exponential.h"

namespace lumen {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

std::string sampler_refusal(const SamplingOptions& options, int32_t size = 4) {
  const Expected<Sampler> sampler = Sampler::make(options, size);
  return sampler.ok() ? "no error" : sampler.diag().str();
}

TEST(Sampler, RefusesBadOptions) {
  EXPECT_EQ(sampler_refusal({.temperature = -1}), "sampling: temperature is -1; it must be 0 or more");
  EXPECT_EQ(sampler_refusal({.temperature = kNan}), "sampling: temperature is nan; it must be 0 or more");
  EXPECT_EQ(sampler_refusal({.top_k = -1}), "sampling: top_k is -1; it must be 0 (all) or more");
  EXPECT_EQ(sampler_refusal({.top_p = 0}), "sampling: top_p is 0; it must be above 0, at most 1");
  EXPECT_EQ(sampler_refusal({.top_p = 1.5}), "sampling: top_p is 1.5; it must be above 0, at most 1");
  EXPECT_EQ(sampler_refusal({.min_p = kNan}), "sampling: min_p is nan; it must be from 0 to 1");
  EXPECT_EQ(sampler_refusal({.repetition_penalty = 0}), "sampling: repetition_penalty is 0; it must be above 0");
  EXPECT_EQ(sampler_refusal({.frequency_penalty = kInfinity}),
            "sampling: frequency_penalty is inf; it must be a number");
  EXPECT_EQ(sampler_refusal({.logit_bias = {{4, 1}}}),
            "sampling: a token of logit_bias is 4; it must be in the vocabulary");
  EXPECT_EQ(sampler_refusal({.logit_bias = {{1, kNan}}}),
            "sampling: a logit_bias is nan; it must be a number or -infinity");
  EXPECT_EQ(sampler_refusal({.top_logprobs = -1}), "sampling: top_logprobs is -1; it must be 0 or more");
  EXPECT_EQ(sampler_refusal({}, 0), "sampling: the vocabulary's size is 0; it must be at least 1");
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
  EXPECT_EQ(draws(42), (std::vector<int32_t>{7, 0, 6, 7, 1, 5, 0, 1, 7, 3, 1, 6})) << "the same on every machine";
}

// The k likeliest of logits, with a weight that is wrong by a part of `error`.
struct Listed {
  Listed(const std::vector<float>& logits, size_t k, float temperature, double error) {
    std::vector<int32_t> order(logits.size());
    std::iota(order.begin(), order.end(), 0);
    const auto logit_of = [&](int32_t id) { return logits[static_cast<size_t>(id)]; };
    std::ranges::stable_sort(order, [&](int32_t a, int32_t b) { return logit_of(a) > logit_of(b); });
    for (size_t n = 0; n < k; ++n) {
      ids.push_back(order[n]);
      largest.push_back(logit_of(order[n]));
    }
    double weight = 0;
    for (const float logit : logits) {
      weight += std::exp((static_cast<double>(logit) - largest[0]) / static_cast<double>(temperature));
    }
    known = {largest, ids, static_cast<float>(weight * (1 + error)), temperature};
  }
  std::vector<int32_t> ids;
  std::vector<float> largest;
  Candidates known;
};

std::optional<int32_t> from_candidates(const SamplingOptions& options, const std::vector<float>& logits, size_t k) {
  Sampler sampler = Sampler::make(options, static_cast<int32_t>(logits.size())).value();
  return sampler.sample_candidates(Listed(logits, k, 1, 0).known);
}

TEST(Sampler, CandidatesThatDoNotDecide) {
  const std::vector<float> logits = {1, 0, -1, 2, -kInfinity, 0.5};
  EXPECT_EQ(from_candidates({.top_k = 2}, logits, 1), std::nullopt) << "fewer than k";
  EXPECT_EQ(from_candidates({.top_p = 0.7F}, logits, 1), std::nullopt) << "0.52 of 0.7";
  EXPECT_EQ(from_candidates({.min_p = 0.2F}, logits, 2), std::nullopt) << "whether others are likely is not known";
  EXPECT_EQ(from_candidates({.temperature = 0.5F}, logits, 6), std::nullopt) << "weights of another temperature";
  EXPECT_EQ(from_candidates({.top_k = 2, .repetition_penalty = 2}, logits, 3), std::nullopt);
  EXPECT_EQ(from_candidates({.top_k = 2, .presence_penalty = 1}, logits, 3), std::nullopt);
  EXPECT_EQ(from_candidates({.top_k = 2, .frequency_penalty = 1}, logits, 3), std::nullopt);
  EXPECT_EQ(from_candidates({.top_k = 2, .logit_bias = {{1, 1}}}, logits, 3), std::nullopt);
  EXPECT_EQ(from_candidates({.top_k = 2, .top_logprobs = 1}, logits, 3), std::nullopt);
  EXPECT_EQ(from_candidates({.top_k = 2}, {1, kInfinity, 0}, 2), std::nullopt) << "an error";
  EXPECT_EQ(from_candidates({.top_k = 2}, {-kInfinity, -kInfinity, -kInfinity}, 2), std::nullopt) << "an error";
  Sampler sampler = Sampler::make({.top_k = 1}, 3).value();
  const std::vector<float> bad = {kNan, 1};
  const std::vector<int32_t> ids = {2, 0};
  EXPECT_EQ(sampler.sample_candidates({bad, ids, kNan, 1}), std::nullopt) << "an error";
  EXPECT_EQ(sampler.sample_candidates({}), std::nullopt);
}

// Where probabilities end is known to one part in 2^14: a draw within that of an end is not decided. Equal logits of
// 4 tokens end at 1/4, 1/2 and 3/4, and top-p of 1/2 ends there, too.
TEST(Sampler, CandidatesNearAnEndDoNotDecide) {
  const std::vector<float> logits(4, 0);
  EXPECT_EQ(from_candidates({.top_p = 0.5F}, logits, 4), std::nullopt);
  EXPECT_NE(from_candidates({.top_p = 0.51F}, logits, 4), std::nullopt);
  EXPECT_NE(from_candidates({.top_k = 4, .top_p = 0.5F}, logits, 4), std::nullopt) << "these are all";
  const Listed listed(logits, 4, 1, 0);
  int undecided = 0;
  for (uint64_t seed = 0; seed < 100'000; ++seed) {
    Sampler sampler = Sampler::make({.seed = seed}, 4).value();
    undecided += sampler.sample_candidates(listed.known) ? 0 : 1;
  }
  EXPECT_GT(undecided, 5);  // 2^-13 * (1/4 + 1/2 + 3/4 + 1/2) is 24 of 100,000
  EXPECT_LT(undecided, 60);
}

TEST(Sampler, CandidatesGiveTheTokensOfAllLogits) {
  const std::vector<SamplingOptions> settings = {
      {.temperature = 0},
      {},
      {.temperature = 0.7F},
      {.temperature = 0.7F, .top_k = 1},
      {.temperature = 1.3F, .top_k = 40},
      {.temperature = 0.8F, .top_p = 0.9F},
      {.temperature = 0.8F, .min_p = 0.05F},
      {.temperature = 0.9F, .top_k = 20, .top_p = 0.8F, .min_p = 0.02F},
  };
  std::mt19937 random(11);
  std::normal_distribution<float> normal(0, 3);
  for (SamplingOptions options : settings) {
    options.seed = random();
    Sampler all = Sampler::make(options, 1000).value(), few = Sampler::make(options, 1000).value();
    int decided = 0;
    for (int k = 0; k < 150; ++k) {
      std::vector<float> logits(1000);
      for (float& logit : logits) logit = std::round(4 * normal(random)) / 4;  // many are equal
      if (k % 3 == 0) std::fill(logits.begin() + 30, logits.end(), -kInfinity);
      const float temperature = options.temperature > 0 ? options.temperature : 1;
      const Listed listed(logits, 64, temperature, k % 2 == 0 ? 0x1p-14 : -0x1p-14);
      const int32_t wanted = all.sample(logits)->id;
      const std::optional<int32_t> got = few.sample_candidates(listed.known);
      decided += got ? 1 : 0;
      ASSERT_EQ(got ? *got : few.sample(logits)->id, wanted) << k;
    }
    EXPECT_GE(decided, options.temperature == 0 || options.top_k > 0 ? 150 : 100);
  }
}

TEST(Sampler, CandidatesThatAreUseful) {
  const auto useful = [](const SamplingOptions& options) { return options.useful_candidates(); };
  EXPECT_EQ(useful({.temperature = 0}), 0) << "only the largest is needed";
  EXPECT_EQ(useful({.top_k = 257}), 0);
  EXPECT_EQ(useful({.repetition_penalty = 1.1F}), 0);
  EXPECT_EQ(useful({}), 64);
  EXPECT_EQ(useful({.top_k = 64}), 64);
  EXPECT_EQ(useful({.top_k = 65}), 128);
  EXPECT_EQ(useful({.top_k = 256}), 256);
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
