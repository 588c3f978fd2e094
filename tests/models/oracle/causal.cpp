#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "models/decoder.h"
#include "models/model_files.h"
#include "tests/models/oracle/case.h"

namespace lumen::models {

namespace {

constexpr double kTolerance = 1e-4;        // f32, of the largest logit of a row
constexpr double kNarrowTolerance = 2e-2;  // bf16
constexpr int64_t kContext = 48;
constexpr int kTexts = 3;

struct Text {
  std::vector<int32_t> prompt, next;
  HostTensor logits;  // [prompt + next, vocabulary]
};

std::vector<int32_t> integers(const HostTensor& tensor) {
  std::vector<int32_t> values;
  for (const Lane& lane : tensor.lanes) values.push_back(static_cast<int32_t>(lane.i));
  return values;
}

// The largest error of a row, as a share of its largest logit, and what is wrong about its best token.
class Comparison {
 public:
  explicit Comparison(double tolerance) : tolerance_(tolerance) {}

  void add(std::span<const float> got, const HostTensor& wanted, int64_t row) {
    const auto size = static_cast<size_t>(wanted.dims[1]);
    const std::span<const Lane> want = std::span(wanted.lanes).subspan(static_cast<size_t>(row) * size, size);
    double worst = 0, scale = 0;
    for (size_t k = 0; k < size; ++k) {
      const double difference = std::abs(got[k] - want[k].f);
      worst = std::isnan(difference) ? INFINITY : std::max(worst, difference);
      scale = std::max(scale, std::abs(want[k].f));
    }
    worst_ = std::max(worst_, worst / scale);
    const auto less = [](const Lane& a, const Lane& b) { return a.f < b.f; };
    const auto best = static_cast<size_t>(std::max_element(want.begin(), want.end(), less) - want.begin());
    const auto ours = static_cast<size_t>(std::max_element(got.begin(), got.end()) - got.begin());
    if (ours != best && want[best].f - want[ours].f > 2 * tolerance_ * scale) ++wrong_best_;
  }

  bool ok() const { return worst_ <= tolerance_ && wrong_best_ == 0; }
  std::string text() const {
    return fmt::format("error {:.2g}{}", worst_,
                       wrong_best_ > 0 ? fmt::format(", {} arg-max differ", wrong_best_) : "");
  }

 private:
  double tolerance_;
  double worst_ = 0;
  int wrong_best_ = 0;
};

class CausalOracle {
 public:
  CausalOracle(const Case& given, const CompileOptions& options, Counts& counts)
      : given_(given), options_(options), counts_(counts) {
    for (int k = 0; k < kTexts; ++k) {
      texts_.push_back({integers(given.expected.tensor(fmt::format("prompt.{}", k)).value()),
                        integers(given.expected.tensor(fmt::format("next.{}", k)).value()),
                        given.expected.tensor(fmt::format("logits.{}", k)).value()});
    }
  }

  void run() {
    check("prefill, all logits", [&](Comparison& c) { prefill_at_once(c); });
    check("chunks of 4, 16 steps", [&](Comparison& c) { continue_one(c); });
    if (given_.is("moved")) return;
    check("batch of 3, ragged", [&](Comparison& c) { continue_all(c, {}); });
    check("batch of 3, ragged, paged", [&](Comparison& c) { continue_all(c, nn::Paging{8, 14}); });
  }

 private:
  template <class Run>
  void check(const char* name, Run run) {
    Comparison comparison(given_.is_narrow() ? kNarrowTolerance : kTolerance);
    try {
      run(comparison);
      report(given_, name, comparison.ok(), comparison.text(), counts_);
    } catch (const Error& problem) {
      report(given_, name, false, problem.what(), counts_);
    }
  }

  Decoder decoder(const ModelOptions& options) {
    files_.push_back(std::make_unique<ModelFiles>(ModelFiles::open(given_.folder).value()));
    const Model model = files_.back()->build(options).value();
    Session session = compile(*model.graph, options_);
    files_.back()->bind(session).value();
    return Decoder(std::move(session), model);
  }

  void prefill_at_once(Comparison& comparison) {
    Decoder one = decoder({.batch = 1, .max_context = kContext, .all_logits = true});
    for (const Text& text : texts_) {
      one.reset();
      one.prefill({text.prompt}, kContext);
      const std::span<const float> rows = one.all_logits(0);
      const auto size = static_cast<size_t>(text.logits.dims[1]);
      for (size_t k = 0; k < text.prompt.size(); ++k) {
        comparison.add(rows.subspan(k * size, size), text.logits, static_cast<int64_t>(k));
      }
    }
  }

  void continue_one(Comparison& comparison) {
    Decoder one = decoder({.batch = 1, .max_context = kContext});
    const Text& text = texts_[0];
    one.prefill({text.prompt}, 4);
    comparison.add(one.logits(0), text.logits, one.length(0) - 1);
    for (const int32_t token : text.next) {
      one.step({token});
      comparison.add(one.logits(0), text.logits, one.length(0) - 1);
    }
  }

  void continue_all(Comparison& comparison, std::optional<nn::Paging> paging) {
    Decoder three = decoder({.batch = 3, .max_context = kContext, .paging = paging});
    std::vector<std::vector<int32_t>> prompts;
    for (const Text& text : texts_) prompts.push_back(text.prompt);
    const auto compare = [&] {
      for (int64_t b = 0; b < 3; ++b) {
        comparison.add(three.logits(b), texts_[static_cast<size_t>(b)].logits, three.length(b) - 1);
      }
    };
    three.prefill(prompts, 8);
    compare();
    for (size_t k = 0; k < texts_[0].next.size(); ++k) {
      three.step({texts_[0].next[k], texts_[1].next[k], texts_[2].next[k]});
      compare();
    }
  }

  const Case& given_;
  const CompileOptions& options_;
  Counts& counts_;
  std::vector<Text> texts_;
  std::vector<std::unique_ptr<ModelFiles>> files_;
};

}  // namespace

void compare_causal(const Case& given, const CompileOptions& options, Counts& counts) {
  CausalOracle(given, options, counts).run();
}

}  // namespace lumen::models
