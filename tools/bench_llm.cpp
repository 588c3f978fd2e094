#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>
#include <sstream>

#include "bench/suite/profile.h"
#include "lumen/backend/cpu/cpu_executable.h"
#include "lumen/base/clock.h"
#include "lumen/base/statistics.h"
#include "models/next_token.h"
#include "tools/files.h"
#include "tools/language.h"
#include "tools/profile_runs.h"
#include "tools/trace_file.h"

namespace lumen::tools {

namespace {

// "128,512", of the option that is named.
Expected<std::vector<int64_t>> parse_lengths(std::string_view option, const std::string& text) {
  std::vector<int64_t> lengths;
  std::istringstream parts(text);
  for (std::string part; std::getline(parts, part, ',');) {
    const int64_t length = std::atoll(part.c_str());
    if (length < 1) return error(fmt::format("{} {}: \"{}\" is no length of a prompt", option, text, part));
    lengths.push_back(length);
  }
  return lengths;
}

// "tg64", "tg64@8192": the usual depth goes without saying.
std::string text_name(int64_t length, int64_t depth, std::string_view space = "") {
  const std::string at = depth == 128 ? "" : fmt::format("@{}", depth);
  return fmt::format("tg{}{}{}", space, length, at);
}

SamplingOptions sampling_options(int32_t top_k, uint64_t seed) {
  return {.temperature = top_k > 0 ? 1.0F : 0.0F, .top_k = top_k, .seed = seed};
}

class LlmBench {
 public:
  LlmBench(models::Decoder& decoder, int64_t vocabulary, const LlmBenchArguments& arguments, bench::Limits limits)
      : decoder_(decoder), vocabulary_(vocabulary), arguments_(arguments), limits_(std::move(limits)) {}

  // Tokens per second of reading a prompt.
  double prompt(int64_t length) {
    const std::vector<std::vector<int32_t>> prompts = prompts_of(length);
    const double tokens = static_cast<double>(length) * batch();
    const auto read = [&] {
      decoder_.reset();
      decoder_.prefill(prompts, length);
    };
    std::vector<double> rates;
    for (int64_t round = 0; round <= arguments_.rounds; ++round) {
      const double start = seconds_now();
      read();
      if (round > 0) rates.push_back(tokens / (seconds_now() - start));
    }
    return report(fmt::format("pp {}", length), median(rates), read);
  }

  // Of writing, after a prompt of `depth` tokens.
  double text(int64_t length, int64_t depth) {
    begin_text(depth);
    std::vector<double> rates;
    for (int64_t round = 0; round < arguments_.rounds; ++round) {
      const double start = seconds_now();
      const int64_t part = std::max<int64_t>(1, length / arguments_.rounds);
      for (int64_t k = 0; k < part; ++k) write();
      rates.push_back(static_cast<double>(part) * batch() / (seconds_now() - start));
    }
    if (arguments_.profile) begin_text(depth);  // there may be no room for more
    return report(text_name(length, depth, " "), median(rates), [&] { write(); });
  }

 private:
  void begin_text(int64_t depth) {
    decoder_.reset();
    following_.clear();
    for (int64_t b = 0; b < decoder_.batch(); ++b) {
      following_.emplace_back(decoder_, b, sampling_options(arguments_.top_k, static_cast<uint64_t>(b)));
    }
    decoder_.prefill(prompts_of(depth), depth);
    decoder_.step(std::vector<int32_t>(static_cast<size_t>(decoder_.batch()), 5));
  }
  // The next token of each sequence.
  void write() {
    tokens_.clear();
    std::optional<models::Choice> choice;
    bool by_model = true;
    for (models::NextToken& following : following_) {
      tokens_.push_back(following.next());
      by_model = by_model && following.choice();
      choice = following.choice();
    }
    by_model ? decoder_.step_on(true, *choice) : decoder_.step(tokens_);
  }
  double batch() const { return static_cast<double>(decoder_.batch()); }
  std::vector<std::vector<int32_t>> prompts_of(int64_t length) const {
    return {static_cast<size_t>(decoder_.batch()), some_tokens(length, vocabulary_)};
  }

  double report(const std::string& name, double rate, const std::function<void()>& step) {
    constexpr int64_t kProfiled = 5;
    fmt::print("{:8} {:10.2f} tokens/s\n", name, rate);
    if (!arguments_.profile) return rate;
    fmt::print("{}", bench::profile_table(profile_runs(decoder_.session(), kProfiled, step), limits_));
    return rate;
  }

  models::Decoder& decoder_;
  int64_t vocabulary_;
  const LlmBenchArguments& arguments_;
  bench::Limits limits_;  // none without a profile
  std::vector<models::NextToken> following_;
  std::vector<int32_t> tokens_;
};

}  // namespace

Expected<int> bench_language_model(const LlmBenchArguments& arguments) try {
  const std::vector<int64_t> lengths = LUMEN_TRY(parse_lengths("--pp", arguments.prompts));
  const std::vector<int64_t> depths = LUMEN_TRY(parse_lengths("--depth", arguments.depths));
  LUMEN_TRY(check_writable(arguments.json));
  TraceFile trace(arguments.trace);
  ModelArguments model = arguments.model;
  model.candidates = sampling_options(arguments.top_k, 0).useful_candidates();
  const std::unique_ptr<LanguageModel> loaded = LUMEN_TRY(load_model(model, need_causal, trace.trace()));
  fmt::print("{} {}, {} MB of weights; load {:.2f} s, search {:.2f} s ({} of {} parts, {} kernels timed)\n",
             arguments.model.path, loaded->model.architecture, loaded->files.bytes() >> 20, loaded->load_seconds,
             loaded->search_seconds, loaded->report.distinct, loaded->report.parts, loaded->report.measured);
  models::Decoder decoder(std::move(*loaded->session), loaded->model);
  bench::Limits limits;
  if (arguments.profile) limits = LUMEN_TRY(limits_for(loaded->backend, loaded->device));
  LlmBench bench(decoder, loaded->model.vocabulary, arguments, std::move(limits));
  nlohmann::json json = {{"model", arguments.model.path},
                         {"batch", arguments.model.batch},
                         {"threads", cpu::shared_pool()->threads()},
                         {"weights", loaded->files.bytes()},
                         {"load_seconds", loaded->load_seconds},
                         {"search_seconds", loaded->search_seconds}};
  for (const int64_t length : lengths) json[fmt::format("pp{}", length)] = bench.prompt(length);
  for (const int64_t depth : depths) {
    if (arguments.tokens > 0) json[text_name(arguments.tokens, depth)] = bench.text(arguments.tokens, depth);
  }
  if (!arguments.json.empty()) LUMEN_TRY(write_text(arguments.json, json.dump(2) + "\n"));
  return 0;
} catch (const Error& problem) {
  return Diag(problem.diag());
}

}  // namespace lumen::tools
