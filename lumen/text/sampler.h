// Sampler: chooses the next token from a model's logits.
//
// In this order: bias is added; penalties; the largest wins if the temperature is 0; otherwise temperature, top-k,
// top-p, min-p, and a draw, for which tokens lie beside each other from the likeliest on. Equal logits rank by id. The
// same seed and logits give the same tokens on every machine.
//
// Tokens that come early in that order are enough for most draws. A model that lists them (Candidates) need not hand
// out all logits; the token is the same.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "lumen/base/expected.h"

namespace lumen {

struct SamplingOptions {
  float temperature = 1;         // 0: the most likely token, always
  int32_t top_k = 0;             // only the k most likely; 0: all
  float top_p = 1;               // only the fewest whose probabilities reach p together
  float min_p = 0;               // only those at least this fraction of the most likely one
  float repetition_penalty = 1;  // of every token seen: logits above 0 are divided by it, others multiplied
  float presence_penalty = 0;    // taken from the logit of every token chosen before
  float frequency_penalty = 0;   // the same, for each time it was chosen
  std::vector<std::pair<int32_t, float>> logit_bias = {};  // added to logits; -infinity forbids a token
  uint64_t seed = 0;
  int32_t top_logprobs = 0;  // how many likely tokens are listed with each choice

  // Whether logits are taken as they are, and nothing but the token is asked for.
  bool is_plain() const {
    return repetition_penalty == 1 && presence_penalty == 0 && frequency_penalty == 0 && logit_bias.empty() &&
           top_logprobs == 0;
  }
  // Whether the largest of the logits is always the choice.
  bool takes_largest() const { return temperature == 0 && is_plain(); }
  // How many Candidates decide most draws; 0: all logits are needed, or only the largest.
  int32_t useful_candidates() const;
};

// What is known of a model's logits without all of them.
struct Candidates {
  std::span<const float> logits;  // the largest, in order
  std::span<const int32_t> ids;   // their tokens; equal logits rank by id
  // The sum of e^((logit - largest) / temperature) of all of them, to one part in 2^14.
  float weight = 0;
  float temperature = 1;
};

// The draws that a Sampler would make, for a model that makes them itself.
struct Draws {
  float temperature = 1;
  int32_t top_k = 0;
  float top_p = 1;
  float min_p = 0;
  uint64_t random = 0;

  // What the k-th draw from here on takes, in [0, 1).
  double uniform(uint64_t k) const;
};

struct TokenLogprob {
  int32_t id;
  float logprob;
};

struct SampledToken {
  int32_t id;
  // Under the model's own distribution: the logits as they were given.
  float logprob;
  std::span<const TokenLogprob> top;  // the most likely first; until the next call
};

class Sampler {
 public:
  // An error names an option that is out of range.
  static Expected<Sampler> make(SamplingOptions options, int32_t vocabulary_size);

  // Tokens of the prompt, for the repetition penalty; those that are not in the vocabulary are ignored.
  void see(std::span<const int32_t> ids);
  // Forgets every token and starts the draws again.
  void reset();

  // The next token, remembered as chosen. One logit per token; -infinity is a token that cannot be. An error for NaN,
  // +infinity, a wrong number, or no token that can be. Allocates nothing after the first call.
  Expected<SampledToken> sample(std::span<const float> logits);
  // The token that sample() would give for all logits, remembered as chosen. None where the candidates do not decide
  // which that is (or that it is an error): nothing has changed then, and sample() tells. Allocates nothing.
  std::optional<int32_t> sample_candidates(const Candidates& known);
  // Those from here on; of options that are plain and have a temperature above 0.
  Draws draws() const;
  // Remembers a token of the vocabulary that was drawn elsewhere with draws().uniform(0).
  void take(int32_t id);

 private:
  struct Candidate {
    float logit;
    int32_t id;
  };
  struct Seen {
    int32_t id;
    int32_t chosen;  // times
  };
  Sampler() = default;
  Seen& remember(int32_t id);
  Expected<void> check(std::span<const float> logits) const;
  void adjust(std::span<const float> logits);
  void rank(size_t count);
  const Candidate& ranked(size_t place);
  double weight_of(const Candidate& candidate) const;
  double weight_of_all() const;
  void keep(size_t count);
  // These are false, or nothing, where what is known does not decide; when all logits are known it always does.
  bool keep_top_k();
  bool keep_top_p();
  bool keep_min_p();
  std::optional<int32_t> draw();
  std::optional<int32_t> choose();
  void fill_logprobs(std::span<const float> logits, SampledToken& token);

  SamplingOptions options_;
  std::vector<int32_t> seen_at_;  // by id: where in seen_, or -1
  std::vector<Seen> seen_;
  std::vector<float> adjusted_;
  std::vector<Candidate> candidates_;
  size_t ranked_ = 0;     // so many candidates are in order, before all others
  double best_ = 0;       // the largest logit
  bool complete_ = true;  // there is nothing to draw from but the candidates
  double weight_ = 0;     // of everything to draw from
  double error_ = 0;      // of `weight_`, as a part of it
  std::vector<TokenLogprob> top_;
  uint64_t random_ = 0;
};

}  // namespace lumen
