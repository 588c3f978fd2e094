// Decoder on the reference: refusals, and that a text's logits do not depend on how it was read, or what was begun
// ahead.
#include "models/decoder.h"

#include <gtest/gtest.h>

#include "tests/models/tiny.h"
#include "tests/support/error_of.h"
#include "tests/support/far_memory.h"

namespace lumen::models {
namespace {

using tests::error_of;

Decoder make_decoder(const ModelOptions& options) {
  const Model model = build_model(tiny_config(), options).value();
  return Decoder(random_session(model), model);
}

std::vector<int32_t> text(size_t length, int32_t seed) {
  std::vector<int32_t> tokens;
  for (size_t k = 0; k < length; ++k)
    tokens.push_back(static_cast<int32_t>((k * k + k * 3 + static_cast<size_t>(seed)) % 11));
  return tokens;
}

// After every token of a text, read alone, token by token.
std::vector<std::vector<float>> read_alone(const std::vector<int32_t>& tokens) {
  Decoder decoder = make_decoder({.max_context = 160});
  std::vector<std::vector<float>> rows;
  for (const int32_t token : tokens) {
    decoder.step({token});
    const std::span<const float> row = decoder.logits(0);
    rows.emplace_back(row.begin(), row.end());
  }
  return rows;
}

void expect_same(std::span<const float> got, const std::vector<float>& wanted) {
  ASSERT_EQ(got.size(), wanted.size());
  for (size_t k = 0; k < got.size(); ++k) EXPECT_NEAR(got[k], wanted[k], 1e-5);
}

TEST(Decoder, refuses) {
  Decoder decoder = make_decoder({.batch = 2, .max_context = 5});
  EXPECT_EQ(error_of([&] { decoder.step({1}); }), "a step of 1 tokens: the batch is 2");
  EXPECT_EQ(error_of([&] { decoder.prefill({{1}}, 4); }), "prefill of 1 sequences in chunks of 4: the batch is 2");
  EXPECT_EQ(error_of([&] { decoder.prefill({{1}, {2}}, 0); }), "prefill of 2 sequences in chunks of 0: the batch is 2");
  decoder.prefill({{1, 2, 3}, {1, 2, 3, 4}}, 4);
  EXPECT_EQ(error_of([&] {
              decoder.prefill({{1}, {2, 3}}, 4);
            }),
            "sequence 1 has 4 tokens and cannot take 2 more: the context holds 5");
  EXPECT_EQ(decoder.length(0), 3);
  EXPECT_EQ(decoder.length(1), 4);
}

TEST(Decoder, a_token_that_is_none_changes_nothing) {
  Decoder decoder = make_decoder({.batch = 2, .max_context = 16});
  decoder.prefill({{1, 2, 3}, {4}}, 4);
  EXPECT_NE(error_of([&] { decoder.step({5, 11}); }), "");
  EXPECT_EQ(decoder.length(0), 3);
  decoder.step({5, 6});
  expect_same(decoder.logits(0), read_alone({1, 2, 3, 5}).back());
  expect_same(decoder.logits(1), read_alone({4, 6}).back());
}

TEST(Decoder, refuses_pages_it_has_not) {
  Decoder decoder = make_decoder({.batch = 2, .max_context = 16, .paging = nn::Paging{4, 3}});
  EXPECT_EQ(error_of([&] { decoder.prefill({text(5, 1), text(5, 2)}, 4); }), "4 pages are needed, 3 are free");
  decoder.prefill({text(5, 1), text(4, 2)}, 4);
  EXPECT_EQ(error_of([&] { decoder.step({1, 2}); }), "1 pages are needed, 0 are free");
  decoder.reset(0);
  decoder.step({1, 2});
  EXPECT_EQ(decoder.length(0), 1);
  EXPECT_EQ(decoder.length(1), 5);
}

TEST(Decoder, chunks_do_not_matter) {
  const std::vector<int32_t> tokens = text(20, 1);
  const std::vector<std::vector<float>> alone = read_alone(tokens);
  Decoder decoder = make_decoder({.max_context = 160, .max_step = 8, .all_logits = true});
  for (const int64_t chunk : {1, 3, 8, 100}) {
    decoder.reset();
    decoder.prefill({tokens}, chunk);
    expect_same(decoder.logits(0), alone.back());
  }
  EXPECT_EQ(decoder.all_logits(0).size(), 4 * 11);  // 20 tokens, at most 8 at a time
  expect_same(decoder.all_logits(0).first(11), alone[16]);
}

TEST(Decoder, neighbours_do_not_matter) {
  const std::vector<std::vector<int32_t>> texts{text(9, 1), text(2, 4), text(0, 0)};
  for (const std::optional<nn::Paging> paging : {std::optional<nn::Paging>(), std::optional(nn::Paging{4, 12})}) {
    Decoder decoder = make_decoder({.batch = 3, .max_context = 16, .paging = paging});
    decoder.prefill(texts, 4);
    expect_same(decoder.logits(0), read_alone(texts[0]).back());
    expect_same(decoder.logits(1), read_alone(texts[1]).back());
    decoder.prefill({{}, {7, 8}, {3}}, 4);
    expect_same(decoder.logits(0), read_alone(texts[0]).back());
    std::vector<int32_t> longer = texts[1];
    longer.insert(longer.end(), {7, 8});
    expect_same(decoder.logits(1), read_alone(longer).back());
    expect_same(decoder.logits(2), read_alone({3}).back());
    decoder.reset(1);
    decoder.step({1, 5, 6});
    expect_same(decoder.logits(1), read_alone({5}).back());
    expect_same(decoder.logits(2), read_alone({3, 6}).back());
  }
}

// The size of what is read changes on the way; what was cached stays.
TEST(Decoder, a_context_that_grows) {
  const std::vector<int32_t> tokens = text(140, 2);
  Decoder decoder = make_decoder({.max_context = 160, .max_step = 160});
  decoder.prefill({tokens}, 160);
  expect_same(decoder.logits(0), read_alone(tokens).back());
}

// A decoder whose memory is far and whose runs are done when they are waited for, and one beside it.
struct FarDecoder {
  explicit FarDecoder(const ModelOptions& options) : FarDecoder(build_model(tiny_config(), options).value()) {}
  explicit FarDecoder(const Model& model) : FarDecoder(model, std::make_shared<tests::FarMemory>()) {}
  FarDecoder(const Model& model, const std::shared_ptr<tests::FarMemory>& memory)
      : FarDecoder(model, std::make_unique<tests::FarExecutable>(model.graph, memory)) {
    far = memory;
  }
  FarDecoder(const Model& model, std::unique_ptr<tests::FarExecutable> made)
      : executable(*made),
        decoder(with_random_parameters(Session(model.graph, std::move(made))), model),
        near(random_session(model), model) {}

  void step_on(bool again) {
    std::vector<int32_t> tokens;
    for (int64_t b = 0; b < near.batch(); ++b) tokens.push_back(near.best(b).value());
    near.step(tokens);
    decoder.step_on(again);
    expect_equal();
  }
  void expect_equal() const {
    for (int64_t b = 0; b < near.batch(); ++b) {
      EXPECT_EQ(decoder.length(b), near.length(b));
      EXPECT_EQ(decoder.best(b), near.best(b));
      const std::span<const float> row = near.logits(b);
      expect_same(decoder.logits(b), {row.begin(), row.end()});
    }
  }

  std::shared_ptr<tests::FarMemory> far;
  tests::FarExecutable& executable;
  Decoder decoder, near;
};

TEST(DecoderAhead, steps_begin_before_their_tokens_are_known) {
  for (const std::optional<nn::Paging> paging : {std::optional<nn::Paging>(), std::optional(nn::Paging{4, 50})}) {
    FarDecoder pair({.batch = 2, .max_context = 100, .paging = paging});
    for (Decoder* each : {&pair.decoder, &pair.near}) each->prefill({text(5, 1), text(55, 2)}, 16);
    const int before = pair.executable.starts;
    for (int k = 0; k < 20; ++k) {
      const int writes = pair.far->writes;
      pair.step_on(k < 19);
      const bool begins_one = k != 0 && k != 8 && k != 9 && k != 19;
      if (begins_one) {
        EXPECT_EQ(pair.far->writes - writes, 1) << "all that a step needs is one copy";
      }
      // The context grows at 64 tokens: the 10th step has another size, and begins when the 9th has ended.
      EXPECT_EQ(pair.decoder.session().under_way(), k == 8 || k == 19 ? 0 : 1) << k;
    }
    EXPECT_EQ(pair.executable.starts - before, 20);
    // Another token than the likeliest: what was begun is dropped, and the places it wrote to are written again.
    pair.step_on(true);
    for (Decoder* each : {&pair.decoder, &pair.near}) each->step({4, 7});
    pair.expect_equal();
    pair.step_on(true);
    for (Decoder* each : {&pair.decoder, &pair.near}) each->prefill({{}, {1, 2, 3}}, 2);
    pair.expect_equal();
    pair.step_on(true);
    pair.step_on(true);
    for (Decoder* each : {&pair.decoder, &pair.near}) each->reset(1);
    pair.step_on(true);
    pair.step_on(true);
    EXPECT_EQ(pair.decoder.length(1), 2);
  }
}

// Draws, some of which are not decided; and in between what is likeliest, or other settings.
TEST(DecoderAhead, steps_begin_before_their_tokens_are_drawn) {
  FarDecoder pair({.max_context = 64, .candidates = 6});
  for (Decoder* each : {&pair.decoder, &pair.near}) each->prefill({text(5, 1)}, 16);
  int ahead = 0, here = 0;
  for (const float temperature : {0.2F, 0.9F}) {
    Sampler sampler = Sampler::make({.temperature = temperature, .seed = 7}, 11).value();
    pair.decoder.set_draws(0, sampler.draws());
    for (Decoder* each : {&pair.decoder, &pair.near}) each->step({3});
    ASSERT_EQ(sampler.sample(pair.near.logits(0))->id >= 0, true) << "the step took the first draw";
    for (int k = 0; k < 24; ++k) {
      const int32_t wanted = sampler.sample(pair.near.logits(0))->id;
      const std::optional<int32_t> drawn = pair.decoder.drawn(0);
      pair.near.step({wanted});
      if (drawn) {
        ASSERT_EQ(*drawn, wanted);
        pair.decoder.step_on(true, Choice::drawn);
      } else {
        pair.decoder.step({wanted});
      }
      ++(drawn ? ahead : here);
      EXPECT_EQ(pair.decoder.session().under_way(), drawn ? 1 : 0);
      pair.expect_equal();
      if (k % 8 != 5) continue;
      pair.step_on(true);  // takes a draw, too
      (void)sampler.sample(pair.near.logits(0));
    }
    pair.step_on(true);
  }
  EXPECT_GT(ahead, 10);
  EXPECT_GT(here, 2);
}

// A size of the context may have to be captured anew there.
TEST(DecoderAhead, the_context_doubles) {
  FarDecoder pair({.max_context = 300});
  for (Decoder* each : {&pair.decoder, &pair.near}) each->prefill({text(186, 1)}, 64);
  for (int k = 0; k < 12; ++k) {
    pair.step_on(true);
    EXPECT_EQ(pair.decoder.session().under_way(), 1) << k;
  }
}

TEST(DecoderAhead, goes_to_the_end_of_the_context) {
  for (const std::optional<nn::Paging> paging : {std::optional<nn::Paging>(), std::optional(nn::Paging{4, 2})}) {
    FarDecoder pair({.max_context = paging ? 12 : 8, .paging = paging});
    for (Decoder* each : {&pair.decoder, &pair.near}) each->prefill({{1, 2, 3}}, 16);
    for (int k = 0; k < 5; ++k) pair.step_on(true);
    EXPECT_EQ(pair.decoder.session().under_way(), 0);
    EXPECT_EQ(error_of([&] { pair.decoder.step_on(true); }), error_of([&] { pair.near.step_on(true); }));
    pair.expect_equal();
  }
}

TEST(DecoderAhead, pages_of_what_was_dropped_are_free) {
  FarDecoder pair({.batch = 2, .max_context = 16, .paging = nn::Paging{4, 3}});
  for (Decoder* each : {&pair.decoder, &pair.near}) each->prefill({{1, 2, 3}, {4, 5}}, 4);
  pair.step_on(true);  // what was begun has the last page, for the first sequence
  for (Decoder* each : {&pair.decoder, &pair.near}) each->prefill({{}, {6, 7}}, 4);
  pair.expect_equal();
  EXPECT_EQ(error_of([&] { pair.decoder.step({1, 2}); }), "1 pages are needed, 0 are free");
}

TEST(DecoderAhead, what_was_dropped_is_not_seen) {
  FarDecoder pair({.max_context = 20});
  for (Decoder* each : {&pair.decoder, &pair.near}) each->prefill({{1, 2, 3}}, 16);
  pair.step_on(true);
  EXPECT_NE(error_of([&] { pair.decoder.step({11}); }), "");
  EXPECT_EQ(pair.decoder.length(0), 4);
  EXPECT_EQ(error_of([&] { (void)pair.decoder.best(0); }), "output \"top\" has no value before execute()");
  for (Decoder* each : {&pair.decoder, &pair.near}) each->step({5});
  pair.expect_equal();
}

}  // namespace
}  // namespace lumen::models
