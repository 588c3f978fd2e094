#include "lumen/search/tune.h"

#include <fmt/format.h>

#include <cmath>

#include "lumen/backend/cpu/target.h"
#include "lumen/base/log.h"
#include "lumen/codegen/print_kernel.h"
#include "lumen/ir/text.h"
#include "lumen/kernel/contract.h"
#include "lumen/search/estimate.h"
#include "lumen/search/measure.h"

namespace lumen::search {

namespace {

constexpr size_t kMostCandidates = 6;

// What interpreting costs, about: enough that no kernel loses against it.
constexpr double kInterpretedSeconds = 1;

}  // namespace

Expected<Program> alone(ProgramKernel kernel) {
  const std::shared_ptr<const Graph> body = kernel.body;
  Carved carved{body, {body->inputs().begin(), body->inputs().end()}, {}};
  for (const Output& output : body->outputs()) carved.results.push_back(output.value);
  const uint32_t kernel_of[] = {0};
  return make_program(body, std::span(&carved, 1), {std::move(kernel)}, kernel_of);
}

struct Tuner::Open {
  std::string text;
  std::shared_ptr<const Graph> body;
  std::vector<std::string> schedules;
  std::vector<std::unique_ptr<Executable>> kernels;  // null where one does not compile
  std::vector<std::string> problems;
};

Expected<ProgramKernel> make_kernel(const std::shared_ptr<const Graph>& body, const std::string& schedule,
                                    const Target& target) {
  if (schedule.empty()) return ProgramKernel{expand(*body), {}, {}};
  const std::string name = "k" + kernel_hash(print(*body) + schedule);
  return ProgramKernel{body, LUMEN_TRY(print_kernel(*body, name, schedule, target)), schedule};
}

Tuner::Tuner(const cpu::Compiler& compiler, std::shared_ptr<cpu::ThreadPool> pool, TuneOptions options)
    : compiler_(compiler),
      pool_(std::move(pool)),
      options_(std::move(options)),
      target_(cpu::target_of(compiler.target())),
      fingerprint_(compiler.target().fingerprint()) {}

std::string Tuner::shape_text(const Graph& body) const {
  std::string text = fmt::format("threads={}", pool_->threads());
  for (const Expr& dim : body.dims())
    text += fmt::format(" {}={}", dim.dim_name(), evaluate(dim, options_.dims).value());
  return text;
}

Expected<bool> Tuner::find(const std::string& text, const Graph& body, Tuned& found) const {
  if (options_.db == nullptr) return false;
  const std::string shape = shape_text(body);
  for (const TuningEntry& entry : LUMEN_TRY(options_.db->find({fingerprint_, text, shape}))) {
    if (!print_kernel(body, "k", entry.schedule, target_).ok()) continue;  // of another version
    found = {entry.schedule, entry.seconds};
    return true;
  }
  return false;
}

double Tuner::estimated(const Graph& body) const { return estimate(body, options_.dims); }

Expected<std::vector<Tuned>> Tuner::tune(std::span<const std::shared_ptr<const Graph>> bodies) {
  std::vector<std::string> texts;
  std::vector<Open> open;
  for (const std::shared_ptr<const Graph>& body : bodies) {
    texts.push_back(print(*body));
    const auto [at, is_new] = known_.try_emplace(texts.back());
    if (!is_new || LUMEN_TRY(find(texts.back(), *body, at->second))) continue;
    Expected<std::vector<std::string>> schedules = kernel_schedules(*body, target_);
    if (!schedules.ok()) {
      at->second = {"", kInterpretedSeconds};
      continue;
    }
    if (!options_.measure) {
      at->second = {schedules->front(), estimated(*body)};
      continue;
    }
    if (schedules->size() > kMostCandidates) schedules->resize(kMostCandidates);
    open.push_back({texts.back(), body, std::move(*schedules), {}, {}});
  }
  if (!open.empty()) LUMEN_TRY(measure_all(open));
  std::vector<Tuned> tuned;
  for (const std::string& text : texts) tuned.push_back(known_.at(text));
  return tuned;
}

Expected<void> Tuner::measure_all(std::vector<Open>& open) {
  std::vector<Program> programs;
  for (const Open& each : open) {
    for (const std::string& schedule : each.schedules) {
      programs.push_back(LUMEN_TRY(alone(LUMEN_TRY(make_kernel(each.body, schedule, target_)))));
    }
  }
  const std::vector<Program> spare = programs;  // in case one of them does not compile
  Expected<std::vector<cpu::Binary>> all = cpu::build(std::move(programs), compiler_, options_.c_flags);
  size_t next = 0;
  for (Open& each : open) {
    for (size_t k = 0; k < each.schedules.size(); ++k, ++next) {
      each.problems.emplace_back();
      if (all.ok()) {
        each.kernels.push_back(LUMEN_TRY(cpu::make_executable(std::move((*all)[next]), pool_)));
        continue;
      }
      Expected<std::vector<cpu::Binary>> one = cpu::build({spare[next]}, compiler_, options_.c_flags);
      if (!one.ok()) each.problems.back() = one.diag().str();
      each.kernels.push_back(one.ok() ? LUMEN_TRY(cpu::make_executable(std::move((*one)[0]), pool_)) : nullptr);
    }
  }
  for (Open& each : open) {
    Contest contest{{}, each.body.get(), options_.dims};
    std::vector<std::string> schedules;
    for (size_t k = 0; k < each.kernels.size(); ++k) {
      if (each.kernels[k] == nullptr) {
        LUMEN_LOG(0, fmt::format("a kernel does not compile: {}", each.problems[k]));
        continue;
      }
      contest.kernels.push_back(each.kernels[k].get());
      schedules.push_back(each.schedules[k]);
    }
    const std::vector<Expected<Timing>> timings = measure(contest);
    ++measured_;
    LUMEN_TRY(record(each, schedules, timings));
  }
  return {};
}

Expected<void> Tuner::record(const Open& open, std::span<const std::string> schedules,
                             std::span<const Expected<Timing>> timings) {
  Tuned best{"", kInterpretedSeconds};
  std::vector<TuningEntry> entries;
  for (size_t k = 0; k < schedules.size(); ++k) {
    TuningEntry entry;
    entry.fingerprint = fingerprint_;
    entry.kernel = open.text;
    entry.shape = shape_text(*open.body);
    entry.schedule = schedules[k];
    entry.date = search::now();
    if (timings[k].ok()) {
      entry.seconds = timings[k]->seconds;
      entry.spread = timings[k]->spread;
      entry.trials = timings[k]->trials;
      if (best.schedule.empty() || entry.seconds < best.seconds) best = {schedules[k], entry.seconds};
    } else {
      entry.rejected = timings[k].diag().str();
    }
    LUMEN_LOG(2, fmt::format("tune: {:10.2f} us  {}  {}", entry.seconds * 1e6, entry.schedule, entry.rejected));
    entries.push_back(std::move(entry));
  }
  known_[open.text] = best;
  return options_.db == nullptr ? Expected<void>() : options_.db->put(entries);
}

}  // namespace lumen::search
