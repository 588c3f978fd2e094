// NextToken: the tokens that continue a sequence of a decoder, by a Sampler. What the model says of them in its own
// memory is taken where that decides; the rest of its logits may be far away.
#pragma once

#include "models/decoder.h"

namespace lumen::models {

class NextToken {
 public:
  // The first is that after the decoder's next step. Throws lumen::Error for options that are out of range.
  NextToken(Decoder& decoder, int64_t sequence, const SamplingOptions& options);

  // Tokens of the prompt, for the repetition penalty.
  void see(std::span<const int32_t> tokens) { sampler_.see(tokens); }
  // The one after the decoder's last step; each is to be appended before the next one.
  int32_t next();
  // How the model chose it, for step_on(); nothing when it did not.
  std::optional<Choice> choice() const { return choice_; }

 private:
  Decoder& decoder_;
  int64_t sequence_;
  Sampler sampler_;
  bool draws_, takes_largest_;  // in the model's memory
  std::optional<Choice> choice_;
};

}  // namespace lumen::models
