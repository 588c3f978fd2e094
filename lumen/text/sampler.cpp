#include "lumen/text/sampler.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "lumen/base/check.h"
#include "lumen/base/hash.h"
#include "lumen/text/exponential.h"

namespace lumen {

namespace {

constexpr size_t kFirstRanked = 256;  // how many are put in order before it is known how many are needed
constexpr double kWeightError = 0x1.01p-14;
constexpr uint64_t kRandomStep = 0x9e3779b97f4a7c15;
// Enough for most draws from what models know; so many more where more are asked for, up to the last.
constexpr int32_t kUsefulCandidates = 64, kMostCandidates = 256;

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

int32_t SamplingOptions::useful_candidates() const {
  if (!is_plain() || temperature == 0 || top_k > kMostCandidates) return 0;
  return std::max(1, (top_k + kUsefulCandidates - 1) / kUsefulCandidates) * kUsefulCandidates;
}

double Draws::uniform(uint64_t k) const {
  return static_cast<double>(hash_mix(random + (k + 1) * kRandomStep) >> 11) * 0x1p-53;
}

Expected<Sampler> Sampler::make(SamplingOptions options, int32_t vocabulary_size) {
  LUMEN_TRY(check_options(options, vocabulary_size));
  Sampler sampler;
  sampler.options_ = std::move(options);
  const auto size = static_cast<size_t>(vocabulary_size);
  sampler.seen_at_.assign(size, -1);
  sampler.seen_.reserve(size);
  sampler.adjusted_.resize(size);
  sampler.candidates_.reserve(size);
  sampler.top_.reserve(std::min(size, static_cast<size_t>(sampler.options_.top_logprobs)));
  sampler.reset();
  return sampler;
}

void Sampler::reset() {
  for (const Seen& seen : seen_) seen_at_[static_cast<size_t>(seen.id)] = -1;
  seen_.clear();
  random_ = options_.seed;
}

Draws Sampler::draws() const { return {options_.temperature, options_.top_k, options_.top_p, options_.min_p, random_}; }

void Sampler::take(int32_t id) {
  random_ += kRandomStep;
  ++remember(id).chosen;
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

// The candidate at a place of the order. Only as many are ranked as are asked for.
const Sampler::Candidate& Sampler::ranked(size_t place) {
  if (place >= ranked_) rank(std::max({place + 1, kFirstRanked, ranked_ * 4}));
  return candidates_[place];
}

double Sampler::weight_of(const Candidate& candidate) const {
  return text::exp_of_nonpositive((static_cast<double>(candidate.logit) - best_) / options_.temperature);
}

double Sampler::weight_of_all() const {
  double sum = 0;
  for (const Candidate& candidate : candidates_) sum += weight_of(candidate);
  return sum;
}

// Only the best so many are drawn from, whatever was known of others.
void Sampler::keep(size_t count) {
  rank(count);
  candidates_.resize(count);
  complete_ = true;
  weight_ = weight_of_all();
  error_ = 0;
}

bool Sampler::keep_top_k() {
  const auto wanted = static_cast<size_t>(options_.top_k);
  if (wanted == 0) return true;
  if (wanted > candidates_.size() && !complete_) return false;
  keep(std::min(wanted, candidates_.size()));
  return true;
}

bool Sampler::keep_top_p() {
  if (options_.top_p >= 1) return true;
  const double wanted = static_cast<double>(options_.top_p) * weight_;
  double sum = 0;
  for (size_t k = 0; k < candidates_.size(); ++k) {
    sum += weight_of(ranked(k));
    if (sum < wanted * (1 - error_)) continue;
    if (sum < wanted * (1 + error_)) return false;
    keep(k + 1);
    return true;
  }
  return complete_ && error_ == 0;  // rounding: all are needed
}

bool Sampler::keep_min_p() {
  if (options_.min_p <= 0) return true;
  size_t count = 0;
  while (count < candidates_.size() && weight_of(ranked(count)) >= options_.min_p) ++count;
  if (count == candidates_.size() && !complete_) return false;
  keep(count);
  return true;
}

std::optional<int32_t> Sampler::draw() {
  const double place = draws().uniform(0) * weight_;
  double sum = 0;
  size_t chosen = 0;  // rounding: the uniform is as good as 1 when no sum is above the place
  for (size_t k = 0; k < candidates_.size(); ++k) {
    sum += weight_of(ranked(k));
    if (sum <= place * (1 - error_)) continue;
    if (sum <= place * (1 + error_)) return std::nullopt;
    chosen = k;
    break;
  }
  if (sum <= place && !(complete_ && error_ == 0)) return std::nullopt;
  random_ += kRandomStep;
  return candidates_[chosen].id;
}

std::optional<int32_t> Sampler::choose() {
  if (options_.temperature == 0) {
    rank(1);
    return candidates_.front().id;
  }
  if (!keep_top_k() || !keep_top_p() || !keep_min_p()) return std::nullopt;
  return draw();
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
  best_ = std::ranges::max(candidates_, {}, &Candidate::logit).logit;
  complete_ = true;
  error_ = 0;
  // What is not the sum of what is kept in the end.
  const bool sums_all = options_.top_k == 0 && (options_.top_p < 1 || options_.min_p <= 0);
  if (options_.temperature > 0 && sums_all) weight_ = weight_of_all();
  SampledToken token{};
  token.id = *choose();
  fill_logprobs(logits, token);
  ++remember(token.id).chosen;
  return token;
}

std::optional<int32_t> Sampler::sample_candidates(const Candidates& known) {
  CHECK(known.logits.size() == known.ids.size(), "a logit for each candidate");
  const bool same_weights = known.temperature == options_.temperature || options_.temperature == 0;
  if (!options_.is_plain() || !same_weights || known.logits.empty()) return std::nullopt;
  // NaN and +infinity are before all others: sample() says which token has them.
  if (!std::isfinite(known.logits.front()) || !(std::isfinite(known.weight) && known.weight > 0)) return std::nullopt;
  candidates_.clear();
  for (size_t k = 0; k < known.logits.size() && std::isfinite(known.logits[k]); ++k) {
    candidates_.push_back({known.logits[k], known.ids[k]});
  }
  ranked_ = candidates_.size();
  best_ = known.logits.front();
  // After one that cannot be, there are only such.
  complete_ = ranked_ < known.logits.size() || ranked_ == seen_at_.size();
  weight_ = known.weight;
  error_ = kWeightError;
  const std::optional<int32_t> id = choose();
  if (id) ++remember(*id).chosen;
  return id;
}

}  // namespace lumen
