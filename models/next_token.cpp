#include "models/next_token.h"

namespace lumen::models {

NextToken::NextToken(Decoder& decoder, int64_t sequence, const SamplingOptions& options)
    : decoder_(decoder),
      sequence_(sequence),
      sampler_(Sampler::make(options, static_cast<int32_t>(decoder.vocabulary())).value()),
      draws_(decoder.has_candidates() && options.is_plain() && options.temperature > 0),
      takes_largest_(options.takes_largest()) {
  if (draws_) decoder_.set_draws(sequence_, sampler_.draws());
}

int32_t NextToken::next() {
  choice_.reset();
  if (takes_largest_) {
    if (const std::optional<int32_t> best = decoder_.best(sequence_)) {
      choice_ = Choice::likeliest;
      return *best;
    }
  }
  if (draws_) {
    if (const std::optional<int32_t> drawn = decoder_.drawn(sequence_)) {
      choice_ = Choice::drawn;
      sampler_.take(*drawn);
      return *drawn;
    }
    if (const std::optional<int32_t> id = sampler_.sample_candidates(decoder_.candidates(sequence_))) return *id;
  }
  return sampler_.sample(decoder_.logits(sequence_)).value().id;
}

}  // namespace lumen::models
