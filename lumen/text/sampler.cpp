#include "lumen/text/sampler.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "lumen/base/hash.h"
#include "lumen/text/exponential.h"

namespace lumen {

namespace {

constexpr size_t kFirstRanked = 256;  // how many are put in order before it is known how many are needed

Expected<void> check_options(const SamplingOptions& options, int32_t vocabulary_size) {
  const auto bad = [](std::string_view name, auto value, std::string_view wanted) {
    return error(fmt::format("sampling: {} is {}; it must be {}", name, value, wanted));
  };
  const auto finite = [](float value) { return std::isfinite(value); };
  if (vocabulary_size <= 0) return bad("the vocabulary's size", vocabulary_size, "at least 1");
  if (!finite(options.temperature) || options.temperature < 0)
    return bad("temperature", options.temperature, "0 or more");
  if (options.top_k < 0) return bad("top_k", options.top_k, "0 (all) or more");
  if (!(options.top_p > 0 && options.top_p <= 1)) return bad("top_p", options.top_p, "above 0, at most 1");
  if (!(options.min_p >= 0 && options.min_p <= 1)) return bad("min_p", options.min_p, "from 0 to 1");
  if (!finite(options.repetition_penalty) || options.repetition_penalty <= 0) {
    return bad("repetition_penalty", options.repetition_penalty, "above 0");
  }
  if (!finite(options.presence_penalty)) return bad("presence_penalty", options.presence_penalty, "a number");
  if (!finite(options.frequency_penalty)) return bad("frequency_penalty", options.frequency_penalty, "a number");
  if (options.top_logprobs < 0) return bad("top_logprobs", options.top_logprobs, "0 or more");
  for (const auto& [id, bias] : options.logit_bias) {
    if (id < 0 || id >= vocabulary_size) return bad("a token of logit_bias", id, "in the vocabulary");
    if (std::isnan(bias) || bias == std::numeric_limits<float>::infinity()) {
      return bad("a logit_bias", bias, "a number or -infinity");
    }
  }
  return {};
}

}  // namespace

Expected<Sampler> Sampler::make(SamplingOptions options, int32_t vocabulary_size) {
  LUMEN_TRY(check_options(options, vocabulary_size));
  Sampler sampler;
  sampler.options_ = std::move(options);
  const auto size = static_cast<size_t>(vocabulary_size);
  sampler.seen_at_.assign(size, -1);
  sampler.seen_.reserve(size);
  sampler.adjusted_.resize(size);
  sampler.candidates_.reserve(size);
  sampler.weights_.reserve(size);
  sampler.top_.reserve(std::min(size, static_cast<size_t>(sampler.options_.top_logprobs)));
  sampler.reset();
  return sampler;
}

void Sampler::reset() {
  for (const Seen& seen : seen_) seen_at_[static_cast<size_t>(seen.id)] = -1;
  seen_.clear();
  random_ = options_.seed;
}

Sampler::Seen& Sampler::remember(int32_t id) {
  int32_t& at = seen_at_[static_cast<size_t>(id)];
  if (at < 0) {
    at = static_cast<int32_t>(seen_.size());
    seen_.push_back({id, 0});
  }
  return seen_[static_cast<size_t>(at)];
}

void Sampler::see(std::span<const int32_t> ids) {
  for (const int32_t id : ids) {
    if (id >= 0 && static_cast<size_t>(id) < seen_at_.size()) remember(id);
  }
}

Expected<void> Sampler::check(std::span<const float> logits) const {
  if (logits.size() != seen_at_.size()) {
    return error(fmt::format("sampling: {} logits for a vocabulary of {}", logits.size(), seen_at_.size()));
  }
  for (size_t id = 0; id < logits.size(); ++id) {
    if (logits[id] < std::numeric_limits<float>::infinity()) continue;
    return error(fmt::format("sampling: the logit of token {} is {}", id, std::isnan(logits[id]) ? "NaN" : "infinity"));
  }
  return {};
}

void Sampler::adjust(std::span<const float> logits) {
  std::copy(logits.begin(), logits.end(), adjusted_.begin());
  for (const auto& [id, bias] : options_.logit_bias) adjusted_[static_cast<size_t>(id)] += bias;
  for (const Seen& seen : seen_) {
    float& logit = adjusted_[static_cast<size_t>(seen.id)];
    logit = logit > 0 ? logit / options_.repetition_penalty : logit * options_.repetition_penalty;
    if (seen.chosen == 0) continue;
    logit = logit - options_.presence_penalty - static_cast<float>(seen.chosen) * options_.frequency_penalty;
  }
  candidates_.clear();
  ranked_ = 0;
  for (size_t id = 0; id < adjusted_.size(); ++id) {
    if (adjusted_[id] > -std::numeric_limits<float>::infinity()) {
      candidates_.push_back({adjusted_[id], static_cast<int32_t>(id)});
    }
  }
}

// Puts the `count` best candidates first and in order.
void Sampler::rank(size_t count) {
  const auto better = [](const Candidate& a, const Candidate& b) {
    return a.logit != b.logit ? a.logit > b.logit : a.id < b.id;
  };
  count = std::min(count, candidates_.size());
  if (count <= ranked_) return;
  const auto middle = candidates_.begin() + static_cast<std::ptrdiff_t>(count);
  if (middle != candidates_.end()) std::nth_element(candidates_.begin(), middle, candidates_.end(), better);
  std::sort(candidates_.begin(), middle, better);
  ranked_ = count;
}

// Cuts the candidates where the best of them reach p of all weight. Only as many are ranked as that takes.
void Sampler::keep_top_p() {
  if (options_.top_p >= 1) return;
  const double best = candidates_.front().logit;
  const auto weight = [&](const Candidate& candidate) {
    return text::exp_of_nonpositive((candidate.logit - best) / options_.temperature);
  };
  double total = 0;
  for (const Candidate& candidate : candidates_) total += weight(candidate);
  double sum = 0;
  for (size_t k = 0; k < candidates_.size(); ++k) {
    if (k == ranked_) rank(std::max(kFirstRanked, ranked_ * 4));
    sum += weight(candidates_[k]);
    if (sum < static_cast<double>(options_.top_p) * total) continue;
    candidates_.resize(k + 1);
    return;
  }
}

void Sampler::keep_min_p() {
  if (options_.min_p <= 0) return;
  const double best = candidates_.front().logit;
  const auto end = std::remove_if(candidates_.begin(), candidates_.end(), [&](const Candidate& candidate) {
    return text::exp_of_nonpositive((candidate.logit - best) / options_.temperature) < options_.min_p;
  });
  candidates_.erase(end, candidates_.end());
}

// In [0, 1), of 53 bits.
double Sampler::next_uniform() {
  random_ += 0x9e3779b97f4a7c15;
  return static_cast<double>(hash_mix(random_) >> 11) * 0x1p-53;
}

int32_t Sampler::draw() {
  const double best = candidates_.front().logit;
  weights_.clear();
  double total = 0;
  for (const Candidate& candidate : candidates_) {
    weights_.push_back(text::exp_of_nonpositive((candidate.logit - best) / options_.temperature));
    total += weights_.back();
  }
  double left = next_uniform() * total;
  for (size_t k = 0; k < weights_.size(); ++k) {
    left -= weights_[k];
    if (left < 0) return candidates_[k].id;
  }
  return candidates_.front().id;  // rounding: the uniform was as good as 1
}

void Sampler::fill_logprobs(std::span<const float> logits, SampledToken& token) {
  double best = -std::numeric_limits<double>::infinity();
  for (const float logit : logits) best = std::max(best, static_cast<double>(logit));
  double total = 0;
  for (const float logit : logits) total += text::exp_of_nonpositive(static_cast<double>(logit) - best);
  const double norm = best + std::log(total);
  const auto logprob = [&](int32_t id) {
    return static_cast<float>(static_cast<double>(logits[static_cast<size_t>(id)]) - norm);
  };
  token.logprob = logprob(token.id);
  top_.clear();
  if (options_.top_logprobs == 0) return;
  // The candidates are done with, so their memory serves again.
  candidates_.clear();
  for (size_t id = 0; id < logits.size(); ++id) candidates_.push_back({logits[id], static_cast<int32_t>(id)});
  ranked_ = 0;
  const size_t count = std::min(candidates_.size(), static_cast<size_t>(options_.top_logprobs));
  rank(count);
  for (size_t k = 0; k < count; ++k) top_.push_back({candidates_[k].id, logprob(candidates_[k].id)});
  token.top = top_;
}

Expected<SampledToken> Sampler::sample(std::span<const float> logits) {
  LUMEN_TRY(check(logits));
  adjust(logits);
  if (candidates_.empty()) return error("sampling: every token is forbidden: all logits are -infinity");
  SampledToken token{};
  const bool greedy = options_.temperature == 0;
  rank(greedy ? 1 : std::max<size_t>(1, static_cast<size_t>(options_.top_k)));
  if (greedy) {
    token.id = candidates_.front().id;
  } else {
    const auto kept = static_cast<size_t>(options_.top_k);
    if (kept > 0 && kept < candidates_.size()) candidates_.resize(kept);
    keep_top_p();
    keep_min_p();
    token.id = draw();
  }
  fill_logprobs(logits, token);
  ++remember(token.id).chosen;
  return token;
}

}  // namespace lumen
