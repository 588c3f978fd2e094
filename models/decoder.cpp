#include "models/decoder.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <utility>

#include "lumen/base/check.h"
#include "models/candidates.h"

namespace lumen::models {

namespace {

// The context grows in steps, so that sizes are settled anew only now and then.
constexpr int64_t kContextStep = 64;

size_t at(int64_t index) { return static_cast<size_t>(index); }

}  // namespace

Decoder::Decoder(Session session, const Model& model)
    : session_(std::move(session)), options_(model.options), vocabulary_(model.vocabulary) {
  CHECK(model.kind == ModelKind::causal, "a Decoder needs a causal model");
  lengths_.assign(at(options_.batch), 0);
  last_.assign(at(options_.batch), 0);
  chosen_.assign(at(options_.batch), 0);
  counts_.assign(at(options_.batch), 0);
  tokens_.resize(at(options_.batch * options_.max_step));
  positions_.resize(tokens_.size());
  if (has_candidates()) {
    draws_.assign(at(options_.batch), Draws());
    drawn_.assign(at(options_.batch), 0);
    draw_fields_.assign(at(options_.batch * kDrawFields), 0);
    session_.bind("draws", draw_fields_.data(), {options_.batch, kDrawFields});
  }
  if (!options_.paging) return;
  most_pages_ = pages_for(options_.max_context);
  page_table_.assign(at(options_.batch * most_pages_), 0);
  pages_given_.assign(at(options_.batch), 0);
  free_pages_.resize(at(options_.paging->pages));
  std::iota(free_pages_.rbegin(), free_pages_.rend(), 0);
  session_.bind("page_table", page_table_.data(), {options_.batch, most_pages_});
}

int64_t Decoder::pages_for(int64_t positions) const {
  return (positions + options_.paging->page - 1) / options_.paging->page;
}

// Whether each sequence can take `tokens_of` it.
template <class TokensOf>
Expected<void> Decoder::room_for(TokensOf tokens_of) const {
  int64_t pages = 0;
  for (int64_t b = 0; b < options_.batch; ++b) {
    const int64_t length = lengths_[at(b)], tokens = tokens_of(b);
    if (length + tokens > options_.max_context) {
      return error(fmt::format("sequence {} has {} tokens and cannot take {} more: the context holds {}", b, length,
                               tokens, options_.max_context));
    }
    // Without a token a sequence has a place all the same: that of its last one, or the first.
    if (options_.paging) pages += pages_for(std::max<int64_t>(1, length + tokens)) - pages_given_[at(b)];
  }
  if (pages <= static_cast<int64_t>(free_pages_.size())) return {};
  return error(fmt::format("{} pages are needed, {} are free", pages, free_pages_.size()));
}

void Decoder::give_pages(int64_t sequence, int64_t positions) {
  if (!options_.paging) return;
  int64_t& given = pages_given_[at(sequence)];
  for (; given < pages_for(positions); ++given) {
    page_table_[at(sequence * most_pages_ + given)] = free_pages_.back();
    free_pages_.pop_back();
  }
}

void Decoder::keep_pages(int64_t sequence, int64_t pages) {
  if (!options_.paging) return;
  for (int64_t& given = pages_given_[at(sequence)]; given > pages; --given) {
    int32_t& page = page_table_[at(sequence * most_pages_ + given - 1)];
    free_pages_.push_back(page);
    page = 0;
  }
}

// What is under way writes to them before anything that begins later does.
void Decoder::give_back_pages_ahead() {
  for (int64_t b = 0; options_.paging && b < options_.batch; ++b) {
    keep_pages(b, std::min(pages_given_[at(b)], pages_for(std::max<int64_t>(1, lengths_[at(b)]))));
  }
}

// The sequence's tokens of a step. Where there are none left it repeats the last one.
void Decoder::fill_sequence(int64_t sequence, std::span<const int32_t> tokens, int64_t width) {
  const int64_t start = lengths_[at(sequence)];
  const auto count = static_cast<int64_t>(tokens.size());
  for (int64_t k = 0; k < width; ++k) {
    const int64_t place = sequence * width + k;
    tokens_[at(place)] = k < count ? tokens[at(k)] : count > 0 ? tokens.back() : last_[at(sequence)];
    positions_[at(place)] = static_cast<int32_t>(std::max<int64_t>(0, start + std::min(k, count - 1)));
  }
  counts_[at(sequence)] = count;
}

int64_t Decoder::context_for(int64_t longest) const {
  int64_t grown = (longest + kContextStep - 1) / kContextStep * kContextStep;
  // On a device a size may have to be captured anew: there it doubles.
  if (!session_.on_host()) grown = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(grown)));
  return std::min(grown, options_.max_context);
}

void Decoder::fill_draws(int64_t taken) {
  for (int64_t b = 0; has_candidates() && b < options_.batch; ++b) {
    const Draws& draws = draws_[at(b)];
    const auto set = [&](DrawField field, auto value) {
      draw_fields_[at(b * kDrawFields + static_cast<int64_t>(field))] = static_cast<float>(value);
    };
    set(DrawField::temperature, draws.temperature);
    set(DrawField::top_k, draws.top_k);
    set(DrawField::top_p, draws.top_p);
    set(DrawField::min_p, draws.min_p);
    set(DrawField::uniform, draws.uniform(drawn_[at(b)] + static_cast<uint64_t>(taken)));
  }
}

void Decoder::execute(int64_t width, int64_t draws) {
  session_.forget();
  ahead_.reset();
  fill_draws(draws);
  int64_t longest = 1;
  for (int64_t b = 0; b < options_.batch; ++b) longest = std::max(longest, lengths_[at(b)] + counts_[at(b)]);
  const int64_t context = context_for(longest);
  if (context != context_) session_.set_dim("context", context);
  context_ = context;
  if (width != width_ || fed_) {
    session_.set_dim("seq", width);
    session_.bind("tokens", tokens_.data(), {options_.batch, width});
    session_.bind("positions", positions_.data(), {options_.batch, width});
    width_ = width;
    fed_.reset();
  }
  session_.execute();
  note_read(width, draws);
}

void Decoder::note_read(int64_t width, int64_t draws) {
  for (uint64_t& drawn : drawn_) drawn += static_cast<uint64_t>(draws);
  for (int64_t b = 0; b < options_.batch; ++b) {
    if (counts_[at(b)] > 0) last_[at(b)] = tokens_[at((b + 1) * width - 1)];
    lengths_[at(b)] += counts_[at(b)];
  }
}

void Decoder::prefill(std::span<const std::vector<int32_t>> tokens, int64_t chunk) {
  if (static_cast<int64_t>(tokens.size()) != options_.batch || chunk < 1) {
    throw Error(error(
        fmt::format("prefill of {} sequences in chunks of {}: the batch is {}", tokens.size(), chunk, options_.batch)));
  }
  int64_t longest = 0;
  for (int64_t b = 0; b < options_.batch; ++b) longest = std::max(longest, static_cast<int64_t>(tokens[at(b)].size()));
  give_back_pages_ahead();
  room_for([&](int64_t b) { return static_cast<int64_t>(tokens[at(b)].size()); }).value();
  chunk = std::min(chunk, options_.max_step);
  for (int64_t done = 0; done < longest; done += chunk) {
    const int64_t width = std::min(chunk, longest - done);
    for (int64_t b = 0; b < options_.batch; ++b) {
      const std::span<const int32_t> all = tokens[at(b)];
      const size_t from = std::min(at(done), all.size());
      const size_t count = std::min(at(width), all.size() - from);
      give_pages(b, std::max<int64_t>(1, lengths_[at(b)] + static_cast<int64_t>(count)));
      fill_sequence(b, all.subspan(from, count), width);
    }
    execute(width, 0);
  }
}

void Decoder::step(std::span<const int32_t> tokens) {
  if (static_cast<int64_t>(tokens.size()) != options_.batch) {
    throw Error(error(fmt::format("a step of {} tokens: the batch is {}", tokens.size(), options_.batch)));
  }
  give_back_pages_ahead();
  room_for([](int64_t) { return 1; }).value();
  for (int64_t b = 0; b < options_.batch; ++b) {
    give_pages(b, lengths_[at(b)] + 1);
    fill_sequence(b, tokens.subspan(at(b), 1), 1);
  }
  execute(1, 1);
}

bool Decoder::begin_ahead(Choice choice) {
  const int64_t before = session_.under_way();  // tokens that are no part of the sequences yet
  const int64_t longest = std::ranges::max(lengths_) + before + 1;
  if (context_for(longest) != context_ || !room_for([&](int64_t) { return before + 1; }).ok()) return false;
  for (int64_t b = 0; b < options_.batch; ++b) {
    positions_[at(b)] = static_cast<int32_t>(lengths_[at(b)] + before);
    give_pages(b, lengths_[at(b)] + before + 1);
  }
  fill_draws(before + 1);
  if (fed_ != choice) session_.feed("tokens", choice == Choice::likeliest ? "best" : "drawn");
  fed_ = choice;
  session_.start();
  return true;
}

void Decoder::step_on(bool again, Choice choice) {
  for (int64_t b = 0; b < options_.batch; ++b) {
    CHECK(choice == Choice::likeliest || drawn(b), "the draw of a sequence is not decided");
    chosen_[at(b)] = last_row<int32_t>(choice == Choice::likeliest ? "best" : "drawn", b)[0];
  }
  bool ahead = false;
  if (std::exchange(ahead_, std::nullopt) == choice) {
    ahead = again && begin_ahead(choice);
    session_.finish();
    std::ranges::copy(chosen_, tokens_.begin());
    std::ranges::fill(counts_, 1);
    note_read(1, 1);
  } else {
    step(chosen_);
  }
  // Where memory is not far, nothing is won.
  if (ahead || (again && !session_.on_host() && begin_ahead(choice))) ahead_ = choice;
}

void Decoder::reset() {
  for (int64_t b = 0; b < options_.batch; ++b) reset(b);
}

void Decoder::reset(int64_t sequence) {
  ahead_.reset();
  lengths_[at(sequence)] = 0;
  last_[at(sequence)] = 0;
  keep_pages(sequence, 0);
}

std::span<const float> Decoder::all_logits(int64_t sequence) const {
  const std::span<const std::byte> bytes = session_.bytes("logits");
  const std::span<const float> all(reinterpret_cast<const float*>(bytes.data()), bytes.size() / sizeof(float));
  const size_t rows = at(session_.dims("logits")[1]);
  return all.subspan(at(sequence) * rows * at(vocabulary_), rows * at(vocabulary_));
}

template <class T>
std::span<const T> Decoder::last_row(const char* output, int64_t sequence) const {
  const std::span<const std::byte> bytes = session_.bytes(output);
  const std::span<const T> all(reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T));
  const size_t rows = at(session_.dims(output)[1]);
  const size_t length = all.size() / (at(options_.batch) * rows);
  return all.subspan(((at(sequence) + 1) * rows - 1) * length, length);
}

std::optional<int32_t> Decoder::best(int64_t sequence) const {
  if (!std::isfinite(last_row<float>("top", sequence)[0])) return std::nullopt;
  return last_row<int32_t>("best", sequence)[0];
}

std::optional<int32_t> Decoder::drawn(int64_t sequence) const {
  CHECK(has_candidates(), "the model lists no candidates");
  if (!last_row<bool>("decided", sequence)[0]) return std::nullopt;
  return last_row<int32_t>("drawn", sequence)[0];
}

Candidates Decoder::candidates(int64_t sequence) const {
  CHECK(has_candidates(), "the model lists no candidates");
  return {last_row<float>("candidate_logits", sequence), last_row<int32_t>("candidates", sequence),
          last_row<float>("weight", sequence)[0], draws_[at(sequence)].temperature};
}

void Decoder::set_draws(int64_t sequence, const Draws& draws) {
  CHECK(has_candidates(), "the model lists no candidates");
  ahead_.reset();
  draws_[at(sequence)] = draws;
  drawn_[at(sequence)] = 0;
}

std::span<const float> Decoder::logits(int64_t sequence) const { return last_row<float>("logits", sequence); }

}  // namespace lumen::models
