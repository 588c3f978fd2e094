// Decoder: a causal model that reads and continues several texts at once.
//
//   Decoder decoder(std::move(session), model);   // compiled from model.graph, with its weights
//   decoder.prefill({prompt}, 256);
//   decoder.step({next_token(decoder.logits(0))});
//
// The sequences of the batch may have different lengths. A sequence that gets no token in a step repeats its last one
// at its place, which changes nothing (but where rope depends on the longest text, its last key is turned anew).
// Everything throws lumen::Error, and a step that is refused, for a token that the model does not know or for want of
// room, changes nothing; the chunks of a prefill before it are done.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <vector>

#include "lumen/runtime/session.h"
#include "lumen/text/sampler.h"
#include "models/model.h"

namespace lumen::models {

// What a model says about the token that follows, in its own memory: the likeliest, or the one that is drawn.
enum class Choice : uint8_t { likeliest, drawn };

class Decoder {
 public:
  Decoder(Session session, const Model& model);

  int64_t batch() const { return options_.batch; }
  int64_t vocabulary() const { return vocabulary_; }
  int64_t length(int64_t sequence) const { return lengths_[static_cast<size_t>(sequence)]; }
  Session& session() { return session_; }

  // Appends to each sequence its tokens, at most `chunk` at a time (and what the graph allows in a step).
  void prefill(std::span<const std::vector<int32_t>> tokens, int64_t chunk);
  void prefill(std::initializer_list<std::vector<int32_t>> tokens, int64_t chunk) {
    prefill(std::span(tokens.begin(), tokens.size()), chunk);
  }
  // Appends one token to each sequence.
  void step(std::span<const int32_t> tokens);
  void step(std::initializer_list<int32_t> tokens) { step(std::span(tokens.begin(), tokens.size())); }
  // Appends to each sequence its likeliest token, or the one that was drawn. `again`: the same is likely to follow, so
  // a GPU begins with that at once, with tokens that it alone knows. Something else may follow all the same; if that is
  // refused, there is nothing to be asked for.
  void step_on(bool again, Choice choice = Choice::likeliest);

  // Forgets all sequences, or one of them.
  void reset();
  void reset(int64_t sequence);

  // The likeliest token after the last one of a sequence; nothing when its logit is not finite. Where logits are far
  // away, in a GPU's memory, this is the faster one to ask for.
  std::optional<int32_t> best(int64_t sequence) const;
  // Of models with candidates: draws of a sequence from here on, the first one after the next step. Each token of a
  // step takes one; a prefill takes none.
  bool has_candidates() const { return options_.candidates > 0; }
  void set_draws(int64_t sequence, const Draws& draws);
  // The token that follows the last one of a sequence by its draw; nothing where the candidates do not decide it.
  std::optional<int32_t> drawn(int64_t sequence) const;
  // The likeliest tokens after the last one of a sequence, until the next call, weighted at its draw's temperature.
  Candidates candidates(int64_t sequence) const;
  // After the last token of a sequence; until the next call.
  std::span<const float> logits(int64_t sequence) const;
  // Of every token of the last step, [tokens of a sequence, vocabulary]; for models with all_logits.
  std::span<const float> all_logits(int64_t sequence) const;

 private:
  template <class TokensOf>
  Expected<void> room_for(TokensOf tokens_of) const;
  void fill_sequence(int64_t sequence, std::span<const int32_t> tokens, int64_t width);
  // A step, before which sequences take so many of their draws.
  void execute(int64_t width, int64_t draws);
  // The dim for sequences of up to so many tokens.
  int64_t context_for(int64_t longest) const;
  // Begins a step of the tokens that the model chose, after one that is under way or not; false where it would not fit.
  bool begin_ahead(Choice choice);
  // The draws of a step, before which so many are taken.
  void fill_draws(int64_t taken);
  // What a step has read is part of the sequences.
  void note_read(int64_t width, int64_t draws);
  void give_pages(int64_t sequence, int64_t positions);
  void keep_pages(int64_t sequence, int64_t pages);
  // Those that only a step that is not wanted any more needed.
  void give_back_pages_ahead();
  int64_t pages_for(int64_t positions) const;
  // The last row of a sequence in an output [batch, rows, …].
  template <class T>
  std::span<const T> last_row(const char* output, int64_t sequence) const;

  Session session_;
  ModelOptions options_;
  int64_t vocabulary_;
  std::vector<int64_t> lengths_;      // of each sequence
  std::vector<int32_t> last_;         // token of each sequence
  std::vector<int32_t> chosen_;       // likewise, by the model
  std::vector<int64_t> counts_;       // of the tokens that a step adds to each
  std::vector<int32_t> tokens_;       // of a step: [batch, width]
  std::vector<int32_t> positions_;    // likewise
  std::vector<Draws> draws_;          // of each sequence
  std::vector<uint64_t> drawn_;       // of them, by the steps that are done
  std::vector<float> draw_fields_;    // of a step: [batch, kDrawFields]
  std::vector<int32_t> page_table_;   // [batch, most pages of a sequence]
  std::vector<int64_t> pages_given_;  // to each sequence
  std::vector<int32_t> free_pages_;
  int64_t most_pages_ = 0;
  int64_t width_ = 0;            // of the last step
  int64_t context_ = 0;          // likewise
  std::optional<Choice> fed_;    // tokens come from the step before
  std::optional<Choice> ahead_;  // a step of them is under way, and still wanted
};

}  // namespace lumen::models
