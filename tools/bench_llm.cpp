#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "bench/suite/statistics.h"
#include "lumen/base/clock.h"
#include "tools/files.h"
#include "tools/language.h"

namespace lumen::tools {

namespace {

Expected<std::vector<int64_t>> parse_lengths(const std::string& text) {
  std::vector<int64_t> lengths;
  std::istringstream parts(text);
  for (std::string part; std::getline(parts, part, ',');) {
    const int64_t length = std::atoll(part.c_str());
    if (length < 1) return error(fmt::format("--pp {}: \"{}\" is no length of a prompt", text, part));
    lengths.push_back(length);
  }
  return lengths;
}

std::vector<int32_t> some_tokens(int64_t count, int64_t vocabulary) {
  std::vector<int32_t> tokens;
  for (int64_t k = 0; k < count; ++k) tokens.push_back(static_cast<int32_t>(3 + k * 7919 % (vocabulary - 3)));
  return tokens;
}

// Where the time of the last step went, by kernel.
void print_profile(models::Decoder& decoder) {
  std::map<std::string, std::pair<double, int>> times;
  double total = 0;
  for (const CallTime& call : decoder.session().profile()) {
    auto& [seconds, calls] = times[fmt::format("{} [{}]", call.name, call.schedule)];
    seconds += call.seconds;
    ++calls;
    total += call.seconds;
  }
  std::vector<std::pair<double, std::string>> sorted;
  for (const auto& [name, each] : times) {
    sorted.emplace_back(each.first, fmt::format("{:4} x  {}", each.second, name));
  }
  std::ranges::sort(sorted, std::ranges::greater{});
  for (const auto& [seconds, text] : sorted) {
    if (seconds < 0.002 * total) break;
    fmt::print("  {:9.3f} ms {:5.1f} %  {}\n", seconds * 1e3, 100 * seconds / total, text);
  }
}

class LlmBench {
 public:
  LlmBench(models::Decoder& decoder, int64_t vocabulary, const LlmBenchArguments& arguments)
      : decoder_(decoder), vocabulary_(vocabulary), arguments_(arguments) {
    decoder_.session().set_profiling(arguments.profile);
  }

  // Tokens per second of reading a prompt.
  double prompt(int64_t length) {
    const std::vector<int32_t> tokens = some_tokens(length, vocabulary_);
    std::vector<double> rates;
    for (int64_t round = 0; round <= arguments_.rounds; ++round) {
      decoder_.reset();
      const double start = seconds_now();
      decoder_.prefill({tokens}, length);
      if (round > 0) rates.push_back(static_cast<double>(length) / (seconds_now() - start));
    }
    return report(fmt::format("pp {}", length), rates);
  }

  // Of writing, after a prompt of 128 tokens.
  double text(int64_t length) {
    decoder_.reset();
    decoder_.prefill({some_tokens(128, vocabulary_)}, 128);
    decoder_.step({5});
    std::vector<double> rates;
    for (int64_t round = 0; round < arguments_.rounds; ++round) {
      const double start = seconds_now();
      const int64_t part = std::max<int64_t>(1, length / arguments_.rounds);
      for (int64_t k = 0; k < part; ++k) decoder_.step({static_cast<int32_t>(5 + k)});
      rates.push_back(static_cast<double>(part) / (seconds_now() - start));
    }
    return report(fmt::format("tg {}", length), rates);
  }

 private:
  double report(const std::string& name, const std::vector<double>& rates) {
    const double rate = bench::median(rates);
    fmt::print("{:8} {:10.2f} tokens/s\n", name, rate);
    if (arguments_.profile) print_profile(decoder_);
    return rate;
  }

  models::Decoder& decoder_;
  int64_t vocabulary_;
  const LlmBenchArguments& arguments_;
};

}  // namespace

Expected<int> bench_language_model(const LlmBenchArguments& arguments) try {
  const std::vector<int64_t> lengths = LUMEN_TRY(parse_lengths(arguments.prompts));
  const std::unique_ptr<LanguageModel> loaded = LUMEN_TRY(load_model(arguments.model));
  if (loaded->model.kind != models::ModelKind::causal) return error("only causal models are timed");
  fmt::print("{} {}, {} MB of weights; load {:.2f} s, search {:.2f} s ({} of {} parts, {} kernels timed)\n",
             arguments.model.path, loaded->model.architecture, loaded->files.bytes() >> 20, loaded->load_seconds,
             loaded->search_seconds, loaded->report.distinct, loaded->report.parts, loaded->report.measured);
  models::Decoder decoder(std::move(*loaded->session), loaded->model);
  LlmBench bench(decoder, loaded->model.vocabulary, arguments);
  nlohmann::json json = {{"model", arguments.model.path},
                         {"threads", cpu::shared_pool()->threads()},
                         {"weights", loaded->files.bytes()},
                         {"load_seconds", loaded->load_seconds},
                         {"search_seconds", loaded->search_seconds}};
  for (const int64_t length : lengths) json[fmt::format("pp{}", length)] = bench.prompt(length);
  if (arguments.tokens > 0) json[fmt::format("tg{}", arguments.tokens)] = bench.text(arguments.tokens);
  if (!arguments.json.empty()) LUMEN_TRY(write_text(arguments.json, json.dump(2) + "\n"));
  return 0;
} catch (const Error& problem) {
  return Diag(problem.diag());
}

}  // namespace lumen::tools
