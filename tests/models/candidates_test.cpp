// Tokens drawn from what a model lists are those drawn from all logits.
#include "models/candidates.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "lumen/compile.h"
#include "lumen/ir/random_tensor.h"
#include "models/generator.h"
#include "tests/models/tiny.h"
#include "tests/text/small_tokenizers.h"

namespace lumen::models {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

TEST(Candidates, are_not_fewer_than_none) {
  EXPECT_EQ(build_model(tiny_config(), {.candidates = -1}).diag().str(), "candidates is -1");
}

TEST(Candidates, are_listed_only_when_asked_for) {
  const Model model = build_model(tiny_config()).value();
  EXPECT_EQ(model.graph->find_output("candidates"), nullptr);
  EXPECT_FALSE(model.graph->find_input("draws").has_value());
  EXPECT_EQ(build_model(tiny_config(), {.candidates = 64})->options.candidates, 11) << "there are no more tokens";
}

// Many are equal; some are NaN, infinite, or zeros of either sign.
std::vector<double> some_logits(int64_t count, bool with_nan) {
  std::mt19937 random(static_cast<uint32_t>(count));
  std::vector<double> values;
  for (int64_t k = 0; k < count; ++k) values.push_back(static_cast<double>(random() % 40) / 8 - 2.5);
  for (const double special : {-kInf, -kInf, kInf, 0.0, -0.0, 0.0, -0.0}) values[random() % values.size()] = special;
  if (with_nan) values[random() % values.size()] = std::nan("");
  return values;
}

TEST(Candidates, are_the_largest) {
  for (const auto& [length, k] : {std::pair<int64_t, int64_t>{5, 5},
                                  {64, 3},
                                  {1024, 64},
                                  {1025, 64},
                                  {2048, 1},
                                  {3000, 64},
                                  {17000, 64},
                                  {5000, 100}}) {
    Graph graph;
    const Tensor x = graph.input("x", {2, 1, length});
    const ValuesAndIndices wanted = topk(x, k), got = likeliest(x, k);
    wanted.values.output("wanted_values");
    wanted.indices.output("wanted_ids");
    got.values.output("values");
    got.indices.output("ids");
    for (const BackendKind backend : {BackendKind::reference, BackendKind::cpu}) {
      CompileOptions options;
      options.backend = backend;
      options.measure = false;
      Session session = compile(graph, options);
      for (const bool with_nan : {false, true}) {
        session.set("x", some_logits(2 * length, with_nan));
        session.execute();
        EXPECT_EQ(session.get<int64_t>("ids"), session.get<int64_t>("wanted_ids")) << length << " " << k;
        const auto values = session.bytes("values"), exact = session.bytes("wanted_values");
        EXPECT_TRUE(std::ranges::equal(values, exact)) << length << " " << k;
      }
    }
  }
}

TEST(Candidates, come_with_the_weight_of_all) {
  constexpr int64_t kCount = 5000;
  Graph graph;
  const Tensor x = graph.input("x", {2, 1, kCount});
  list_candidates(x, max(x, {2}), graph.input("draws", {2, kDrawFields}), 8);
  CompileOptions options;
  options.measure = false;
  Session session = compile(graph, options);
  std::mt19937 random(5);
  std::normal_distribution<double> normal(0, 6);
  std::vector<float> values(2 * kCount);
  for (float& value : values) value = static_cast<float>(normal(random));
  values[17] = -static_cast<float>(kInf);
  const std::vector<float> temperatures = {0.7F, 1.9F};
  session.set("x", values);
  session.set("draws", std::vector<float>{temperatures[0], 0, 1, 0, 0.5F, temperatures[1], 0, 1, 0, 0.5F});
  session.execute();
  for (size_t b = 0; b < 2; ++b) {
    const std::span<const float> row = std::span(values).subspan(b * kCount, kCount);
    const double largest = *std::ranges::max_element(row);
    double wanted = 0;
    for (const float value : row) wanted += std::exp((static_cast<double>(value) - largest) / temperatures[b]);
    // A tenth of what the Sampler counts with.
    EXPECT_NEAR(session.get<float>("weight")[b] / wanted, 1, 0x1p-14 / 10);
    EXPECT_EQ(session.get<float>("candidate_logits")[b * 8], largest);
  }
}

// Draws of all kinds from rows of all kinds. What the graph says is decided is what a Sampler draws from all logits.
TEST(Candidates, decide_draws_as_a_sampler_does) {
  constexpr int64_t kRows = 64;
  for (const auto& [length, k] : {std::pair<int64_t, int64_t>{3000, 64}, {40, 8}, {6, 6}}) {
    Graph graph;
    const Tensor x = graph.input("x", {kRows, 1, length});
    list_candidates(x, max(x, {2}), graph.input("draws", {kRows, kDrawFields}), k);
    for (const BackendKind backend : {BackendKind::reference, BackendKind::cpu}) {
      CompileOptions how;
      how.backend = backend;
      how.measure = false;
      Session session = compile(graph, how);
      std::mt19937 random(11);
      int decided = 0, simple = 0;
      for (int round = 0; round < 12; ++round) {
        std::normal_distribution<float> normal(0, 0.5F + static_cast<float>(round % 4));
        std::vector<float> values(kRows * static_cast<size_t>(length)), fields;
        for (float& value : values) value = normal(random);
        std::vector<Sampler> samplers;
        for (uint32_t b = 0; b < kRows; ++b) {
          const auto one_of = [&](std::initializer_list<float> all) { return all.begin()[random() % all.size()]; };
          SamplingOptions options;
          options.temperature = one_of({0.1F, 0.5F, 0.8F, 1, 3});
          options.top_k = static_cast<int32_t>(one_of({0, 0, 1, 5, 64, 100}));
          options.top_p = one_of({1, 1, 0.9F, 0.5F, 0.01F});
          options.min_p = one_of({0, 0, 0.05F, 0.3F, 1});
          options.seed = random();
          samplers.push_back(Sampler::make(options, static_cast<int32_t>(length)).value());
          const Draws draws = samplers.back().draws();
          for (const double field :
               {static_cast<double>(draws.temperature), static_cast<double>(draws.top_k),
                static_cast<double>(draws.top_p), static_cast<double>(draws.min_p), draws.uniform(0)}) {
            fields.push_back(static_cast<float>(field));
          }
          float* const row = &values[b * static_cast<size_t>(length)];
          if (b % 8 == 1) std::fill(row + 2, row + length, -static_cast<float>(kInf));  // two are left
          if (b % 8 == 2) std::fill(row, row + length, row[0]);                         // all are equal
          if (b % 32 == 3) row[random() % static_cast<uint32_t>(length)] = std::nanf("");
          if (b % 32 == 4) row[random() % static_cast<uint32_t>(length)] = static_cast<float>(kInf);
          if (b % 32 == 5) std::fill(row, row + length, -static_cast<float>(kInf));
        }
        session.set("x", values);
        session.set("draws", fields);
        session.execute();
        const auto drawn = session.get<int32_t>("drawn");
        const auto is_decided = session.get<bool>("decided");
        for (size_t b = 0; b < kRows; ++b) {
          const std::span<const float> row =
              std::span(values).subspan(b * static_cast<size_t>(length), static_cast<size_t>(length));
          ASSERT_GE(drawn[b], 0) << "it may be read before it is known that it is not decided";
          ASSERT_LT(drawn[b], length);
          const bool is_simple =
              fields[b * kDrawFields + 1] > 0 && fields[b * kDrawFields + 1] <= static_cast<float>(k);
          simple += is_simple ? 1 : 0;
          if (!is_decided[b]) continue;
          decided += is_simple ? 1 : 0;
          const Expected<SampledToken> wanted = samplers[b].sample(row);
          ASSERT_TRUE(wanted.ok()) << wanted.diag().str();
          ASSERT_EQ(drawn[b], wanted->id) << "row " << b << " of round " << round;
        }
      }
      EXPECT_GT(decided, simple * 0.65) << "with top_k among the candidates, most are decided";
    }
  }
}

// Weights are large, so that some tokens are likelier than others.
Decoder sharp_decoder(const ModelOptions& options, bool compiled) {
  const Model model = build_model(tiny_config(R"({"vocab_size": 1500})"), options).value();
  CompileOptions how;
  how.measure = false;
  Session session = with_random_parameters(compiled ? compile(*model.graph, how) : Session(model.graph));
  session.set("lm_head.weight", random_tensor(f32, {1500, 8}, "head", 3, ValueRange{-9, 9}));
  return Decoder(std::move(session), model);
}

TEST(Candidates, give_the_same_texts) {
  const std::vector<SamplingOptions> settings = {
      {.temperature = 0},
      {.temperature = 0.8F},
      {.temperature = 0.8F, .top_k = 20},
      {.temperature = 1.2F, .top_p = 0.9F},
      {.temperature = 0.9F, .min_p = 0.1F},
      {.temperature = 0.7F, .top_k = 30, .top_p = 0.95F, .min_p = 0.01F},
  };
  constexpr int32_t kVocabulary = 1500;
  for (const bool compiled : {false, true}) {
    Decoder plain = sharp_decoder({.max_context = 64}, compiled);
    Decoder lists = sharp_decoder({.max_context = 64, .candidates = 64}, compiled);
    EXPECT_FALSE(plain.has_candidates());
    for (SamplingOptions options : settings) {
      options.seed = 3;
      Sampler all = Sampler::make(options, kVocabulary).value(), few = Sampler::make(options, kVocabulary).value();
      plain.reset();
      lists.reset();
      if (options.temperature > 0) lists.set_draws(0, few.draws());
      plain.prefill({{1, 2, 3}}, 8);
      lists.prefill({{1, 2, 3}}, 8);
      int decided = 0, drawn = 0;
      for (int k = 0; k < 40; ++k) {
        const int32_t wanted = all.sample(plain.logits(0))->id;
        const std::optional<int32_t> got = few.sample_candidates(lists.candidates(0));
        const std::optional<int32_t> known = options.temperature > 0 ? lists.drawn(0) : got;
        drawn += known ? 1 : 0;
        ASSERT_EQ(known.value_or(wanted), wanted) << k << " " << options.temperature;
        decided += got ? 1 : 0;
        ASSERT_EQ(got ? *got : few.sample(lists.logits(0))->id, wanted) << k << " " << options.temperature;
        plain.step({wanted});
        if (k % 2 == 0 || !known || options.temperature == 0) {
          lists.step({wanted});
        } else {
          lists.step_on(k % 3 == 0, Choice::drawn);
        }
      }
      EXPECT_GE(drawn, 24) << options.temperature << " " << options.top_k << " " << options.top_p;
      EXPECT_GE(decided, 25) << options.temperature << " " << options.top_k << " " << options.top_p;
    }
  }
}

// Whole texts, with options that candidates serve and with some that they do not, one after the other.
TEST(Candidates, give_a_generator_the_same_texts) {
  const Tokenizer tokenizer = testing::make(testing::byte_level_json());
  const auto generator = [&](int64_t candidates) {
    const Model model = build_model(tiny_config(), {.max_context = 64, .candidates = candidates}).value();
    Session session = random_session(model);
    session.set("lm_head.weight", random_tensor(f32, {11, 8}, "head", 3, ValueRange{-2, 2}));
    return Generator(Decoder(std::move(session), model), tokenizer);
  };
  Generator plain = generator(0), lists = generator(4);
  for (const SamplingOptions& sampling : std::vector<SamplingOptions>{
           {.temperature = 0.5F, .seed = 1},
           {.temperature = 0},
           {.temperature = 0.9F, .top_k = 3, .seed = 2},
           {.temperature = 0.9F, .repetition_penalty = 1.3F, .seed = 3},
           {.temperature = 2, .top_p = 0.8F, .seed = 4},
       }) {
    GenerateOptions options;
    options.max_tokens = 30;
    options.sampling = sampling;
    const auto show = [](std::string_view) { return true; };
    plain.decoder().reset();
    lists.decoder().reset();
    EXPECT_EQ(lists.generate({1, 2}, options, show).tokens, plain.generate({1, 2}, options, show).tokens)
        << sampling.seed;
  }
}

// Every sequence has a temperature of its own, and one row of all logits is enough.
TEST(Candidates, are_those_of_the_sequence) {
  Decoder decoder = sharp_decoder({.batch = 2, .max_context = 64, .all_logits = true, .candidates = 5}, false);
  decoder.set_draws(1, {.temperature = 0.5F});
  decoder.prefill({{1, 2, 3}, {4}}, 8);
  for (int64_t b = 0; b < 2; ++b) {
    const Candidates listed = decoder.candidates(b);
    const std::span<const float> logits = decoder.logits(b);
    const auto largest = std::ranges::max_element(logits);
    double weight = 0;
    for (const float logit : logits) {
      weight += std::exp((static_cast<double>(logit) - *largest) / listed.temperature);
    }
    EXPECT_EQ(listed.temperature, b == 0 ? 1 : 0.5F);
    ASSERT_EQ(listed.ids.size(), 5U);
    EXPECT_EQ(listed.ids[0], largest - logits.begin());
    EXPECT_EQ(listed.ids[0], decoder.best(b));
    for (size_t k = 0; k < 5; ++k) EXPECT_EQ(listed.logits[k], logits[static_cast<size_t>(listed.ids[k])]);
    EXPECT_NEAR(listed.weight / weight, 1, 1e-5);
  }
}

}  // namespace
}  // namespace lumen::models
