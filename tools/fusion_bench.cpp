#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <sstream>

#include "lumen/backend/cpu/cpu_executable.h"
#include "lumen/base/clock.h"
#include "lumen/base/progress.h"
#include "lumen/search/tuning_entry.h"
#include "tools/commit.h"
#include "tools/files.h"
#include "tools/fusion.h"
#include "tools/fusion_choice.h"
#include "tools/fusion_report.h"
#include "tools/fusion_texts.h"

namespace lumen::tools {

namespace {

constexpr int64_t kChunk = 512;     // tokens of a prompt that are read at once
constexpr double kCaseSeconds = 4;  // a case is repeated for so long, or more
constexpr int64_t kFewestRuns = 7, kMostRuns = 200;
constexpr double kTie = 1e-4;        // of the largest logit: two tokens that are as likely as each other
constexpr double kNarrowTie = 3e-2;  // likewise in bf16 and f16

Expected<std::vector<std::string>> parse_strategies(const std::string& text) {
  std::vector<std::string> strategies;
  std::istringstream parts(text);
  for (std::string part; std::getline(parts, part, ',');) {
    if (!parse_fusion(part).ok()) {
      return error(fmt::format("--strategies {}: \"{}\" is not one of never, always, profile", text, part));
    }
    if (std::ranges::find(strategies, part) != strategies.end()) {
      return error(fmt::format("--strategies {}: {} is there twice", text, part));
    }
    strategies.push_back(part);
  }
  if (strategies.empty()) return error("--strategies: there are none");
  return strategies;
}

// A model compiled by one strategy.
struct Contender {
  std::unique_ptr<LanguageModel> model;
  std::optional<models::Decoder> decoder;
};

class FusionBench {
 public:
  FusionBench(std::vector<Contender>& contenders, FusionReport& report, int64_t vocabulary, double tie)
      : contenders_(contenders), report_(report), vocabulary_(vocabulary), tie_(tie) {}

  // The runs of all strategies take turns, so that what disturbs the machine disturbs all alike.
  void run(FusionCase& fusion_case) {
    const std::vector<int32_t> prompt = some_tokens(fusion_case.prefill, vocabulary_);
    std::vector<WrittenText> texts;
    for (size_t k = 0; k < contenders_.size(); ++k) {
      texts.push_back(write(*contenders_[k].decoder, prompt, fusion_case.decode));
      texts.back().strategy = report_.strategies[k];
    }
    // The first difference that is none by chance, else the first.
    for (size_t k = 1; k < texts.size() && (fusion_case.difference.empty() || fusion_case.is_tie); ++k) {
      compare_texts(texts[0], texts[k], tie_, fusion_case);
    }
    fusion_case.strategies.resize(contenders_.size());
    const double start = seconds_now();
    size_t runs = 0;
    while (wants_more(start, static_cast<int64_t>(runs))) time_round(prompt, runs++, fusion_case);
    // Of many cases some are behind by chance: before that is said they are run four times as often.
    for (int doubled = 0; doubled < 2 && report_.runs == 0 && report_.behind(fusion_case).is_behind(); ++doubled) {
      for (const size_t twice = 2 * runs; runs < twice;) time_round(prompt, runs++, fusion_case);
    }
  }

 private:
  // A few runs of some milliseconds are too noisy to tell 2 %.
  bool wants_more(double start, int64_t runs) const {
    if (report_.runs > 0) return runs < report_.runs;
    return runs < kFewestRuns || (seconds_now() - start < kCaseSeconds && runs < kMostRuns);
  }

  // Not timed: the first run also finds memory and warms caches.
  static WrittenText write(models::Decoder& decoder, const std::vector<int32_t>& prompt, int64_t count) {
    WrittenText written;
    decoder.reset();
    decoder.prefill({prompt}, kChunk);
    for (int64_t k = 0; k < count; ++k) {
      written.leads.push_back(lead_of(decoder.logits(0)));
      written.tokens.push_back(decoder.best(0).value_or(0));
      decoder.step({written.tokens.back()});
    }
    return written;
  }

  // Every strategy once. They take turns token by token, whoever is first: memory is faster or slower for moments.
  void time_round(const std::vector<int32_t>& prompt, size_t round, FusionCase& fusion_case) {
    const size_t count = contenders_.size();
    std::vector<int32_t> next(count);
    std::vector<double> read(count), written(count);
    const auto timed = [](double& total, const auto& work) {
      const double start = seconds_now();
      work();
      total += seconds_now() - start;
    };
    for (size_t k = 0; k < count; ++k) {
      const size_t turn = (k + round) % count;
      models::Decoder& decoder = *contenders_[turn].decoder;
      decoder.reset();
      timed(read[turn], [&] {
        decoder.prefill({prompt}, kChunk);
        next[turn] = decoder.best(0).value_or(0);
      });
    }
    for (size_t token = 0; token < static_cast<size_t>(fusion_case.decode); ++token) {
      for (size_t k = 0; k < count; ++k) {
        const size_t turn = (k + round + token) % count;
        models::Decoder& decoder = *contenders_[turn].decoder;
        timed(written[turn], [&] {
          decoder.step({next[turn]});
          next[turn] = decoder.best(0).value_or(0);
        });
      }
    }
    for (size_t k = 0; k < count; ++k) {
      fusion_case.strategies[k].prefill.push_back(read[k]);
      fusion_case.strategies[k].decode.push_back(written[k]);
    }
  }

  std::vector<Contender>& contenders_;
  FusionReport& report_;
  int64_t vocabulary_;
  double tie_;
};

Expected<std::vector<Contender>> load_all(const FusionBenchArguments& arguments,
                                          const std::vector<std::string>& strategies) {
  std::vector<Contender> contenders;
  for (const std::string& strategy : strategies) {
    ModelArguments own = arguments.model;
    own.fusion.policy = strategy;
    if (strategy != "profile") own.fusion = {.policy = strategy};
    Contender contender;
    contender.model = LUMEN_TRY(load_model(own, need_causal));
    contender.decoder.emplace(std::move(*contender.model->session), contender.model->model);
    contenders.push_back(std::move(contender));
  }
  return contenders;
}

}  // namespace

Expected<int> bench_fusion(const FusionBenchArguments& arguments) try {
  FusionReport report;
  report.strategies = LUMEN_TRY(parse_strategies(arguments.strategies));
  for (const std::string& file : {arguments.json, arguments.html}) {
    if (!file.empty()) LUMEN_TRY(check_writable(file));
  }
  std::vector<Contender> contenders = LUMEN_TRY(load_all(arguments, report.strategies));
  const models::Model& model = contenders[0].model->model;
  report.model = arguments.model.path;
  report.dtype = arguments.model.dtype.empty() ? "as the model says" : arguments.model.dtype;
  report.runs = arguments.runs;
  report.setting = fmt::format("{} threads", cpu::shared_pool()->threads());
  report.hardware = contenders[0].model->hardware;
  report.commit = built_from();
  report.date = search::date_text(search::now());
  FusionBench bench(contenders, report, model.vocabulary, arguments.model.dtype == "f32" ? kTie : kNarrowTie);
  std::vector<FusionCase> cases = fusion_cases(arguments.quick);
  Progress progress("fusion bench", cases.size());
  for (FusionCase& each : cases) {
    progress.set_stage(each.name);
    if (each.prefill + each.decode > model.options.max_context) {
      report.left_out.push_back(each.name);
    } else {
      bench.run(each);
      report.cases.push_back(std::move(each));
    }
    progress.advance();
  }
  progress.finish();
  fmt::print("{}", fusion_table(report));
  if (!arguments.json.empty()) LUMEN_TRY(write_text(arguments.json, fusion_json(report)));
  if (!arguments.html.empty()) LUMEN_TRY(write_text(arguments.html, fusion_html(report)));
  return report.is_good() ? 0 : 1;
} catch (const Error& problem) {
  return Diag(problem.diag());
}

}  // namespace lumen::tools
