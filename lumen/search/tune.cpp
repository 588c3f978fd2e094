#include "lumen/search/tune.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "lumen/base/log.h"
#include "lumen/codegen/codegen_version.h"
#include "lumen/codegen/print_kernel.h"
#include "lumen/ir/text.h"
#include "lumen/kernel/contract.h"
#include "lumen/kernel/title.h"
#include "lumen/search/estimate.h"
#include "lumen/search/measure.h"

namespace lumen::search {

namespace {

constexpr size_t kMostCandidates = 6;  // and one more where a library is among them

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
  auto source = LUMEN_TRY(print_kernel(*body, name, schedule, target));
  return ProgramKernel{body, std::move(source), schedule};
}

Tuner::Tuner(const Device& device, TuneOptions options) : Tuner(device, std::move(options), device.target()) {}

Tuner::Tuner(const Device& device, TuneOptions options, const Target& target)
    : device_(device), options_(std::move(options)), target_(target), fingerprint_(device.fingerprint()) {}

std::string Tuner::shape_text(const Graph& body) const {
  std::string text = fmt::format("{} code={}", device_.setting(), codegen_version());
  // Where there is a library, times without it do not say what is fastest.
  const auto is_contract = [&](NodeId id) { return body[id].is<llir::Contract>(); };
  if (target_.library && std::ranges::any_of(body.order(), is_contract)) text += " library";
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

Expected<std::vector<TuningEntry>> Tuner::contenders(const Graph& body) const {
  if (options_.db == nullptr) return std::vector<TuningEntry>();
  const std::string text = print(body);
  const std::string shape = shape_text(body);
  std::vector<TuningEntry> entries = LUMEN_TRY(options_.db->find({fingerprint_, text, shape}));
  const std::vector<TuningEntry> refused = LUMEN_TRY(options_.db->rejected({fingerprint_, text, shape}));
  entries.insert(entries.end(), refused.begin(), refused.end());
  return entries;
}

// What hung or took its process with it was said when that happened, and is not tried again.
Expected<void> Tuner::leave_out_dangerous(const std::string& text, const Graph& body,
                                          std::vector<std::string>& schedules) const {
  if (options_.db == nullptr) return {};
  const std::string shape = shape_text(body);
  for (const TuningEntry& entry : LUMEN_TRY(options_.db->rejected({fingerprint_, text, shape}))) {
    if (entry.rejected.starts_with(kTrialFault)) std::erase(schedules, entry.schedule);
  }
  return {};
}

double Tuner::estimated(const Graph& body) const { return estimate(body, options_.dims, machine_like(target_)); }

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
    LUMEN_TRY(leave_out_dangerous(texts.back(), *body, *schedules));
    if (schedules->empty()) {
      at->second = {"", kInterpretedSeconds};
      continue;
    }
    schedules->resize(std::min(schedules->size(), kMostCandidates + (target_.library ? 1 : 0)));
    open.push_back({texts.back(), body, std::move(*schedules), {}, {}});
  }
  if (!open.empty()) LUMEN_TRY(measure_unknown(open));
  std::vector<Tuned> tuned;
  for (const std::string& text : texts) tuned.push_back(known_.at(text));
  return tuned;
}

// What another process has measured in the meantime is taken.
Expected<void> Tuner::measure_unknown(std::vector<Open>& open) {
  if (options_.db == nullptr) return measure_all(open);
  const MeasuringLock lock = options_.db->lock_measuring();
  std::vector<Open> unknown;
  for (Open& each : open) {
    if (!LUMEN_TRY(find(each.text, *each.body, known_[each.text]))) unknown.push_back(std::move(each));
  }
  return unknown.empty() ? Expected<void>() : measure_all(unknown);
}

// Compiled together where that works; a kernel that does not compile has a problem instead.
Expected<void> Tuner::build_all(std::vector<Open>& open) {
  const TraceScope scope(options_.trace, fmt::format("compile {} kernels", open.size()), "tune");
  std::vector<Program> programs;
  for (const Open& each : open) {
    for (const std::string& schedule : each.schedules) {
      programs.push_back(LUMEN_TRY(alone(LUMEN_TRY(make_kernel(each.body, schedule, target_)))));
    }
  }
  const std::vector<Program> spare = programs;  // in case one of them does not compile
  Expected<std::vector<Binary>> all = device_.build_to_try(std::move(programs));
  size_t next = 0;
  bool kernels_are_to_blame = all.ok();
  for (Open& each : open) {
    for (size_t k = 0; k < each.schedules.size(); ++k, ++next) {
      each.problems.emplace_back();
      if (all.ok()) {
        each.kernels.push_back(LUMEN_TRY(device_.load(std::move((*all)[next]))));
        continue;
      }
      Expected<std::vector<Binary>> one = device_.build_to_try({spare[next]});
      // A compiler that finds fault with no place in any kernel does not work at all.
      kernels_are_to_blame |= one.ok() || !one.diag().where.file.empty();
      if (!one.ok()) each.problems.back() = one.diag().str();
      each.kernels.push_back(one.ok() ? LUMEN_TRY(device_.load(std::move((*one)[0]))) : nullptr);
    }
  }
  return kernels_are_to_blame ? Expected<void>() : std::move(all).take_diag();
}

Expected<void> Tuner::measure_all(std::vector<Open>& open) {
  LUMEN_TRY(build_all(open));
  for (Open& each : open) {
    const TraceScope scope(options_.trace, "measure " + kernel_title(*each.body), "tune");
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

TuningEntry Tuner::entry_of(const Open& open, const std::string& schedule, const Expected<Timing>& timing) const {
  TuningEntry entry;
  entry.fingerprint = fingerprint_;
  entry.kernel = open.text;
  entry.shape = shape_text(*open.body);
  entry.schedule = schedule;
  entry.date = search::now();
  if (timing.ok()) {
    entry.seconds = timing->seconds;
    entry.spread = timing->spread;
    entry.trials = std::ssize(timing->times);
  } else {
    entry.rejected = timing.diag().str();
  }
  return entry;
}

// Where the device was lost on the way, only what is to blame for it is known.
Expected<void> Tuner::record(const Open& open, std::span<const std::string> schedules,
                             std::span<const Expected<Timing>> timings) {
  Expected<void> usable = device_.usable();
  std::vector<TuningEntry> entries;
  for (size_t k = 0; k < schedules.size(); ++k) {
    TuningEntry entry = entry_of(open, schedules[k], timings[k]);
    const bool dangerous = entry.rejected.starts_with(kTrialFault);
    if (dangerous) LUMEN_LOG(0, "a kernel is left out from now on: " + entry.rejected);
    LUMEN_LOG(2, fmt::format("tune: {:10.2f} us  {}  {}", entry.seconds * 1e6, entry.schedule, entry.rejected));
    if (usable.ok() || dangerous) entries.push_back(std::move(entry));
  }
  if (!usable.ok()) {
    if (options_.db != nullptr) LUMEN_TRY(options_.db->keep(entries));
    return entries.empty() ? std::move(usable).take_diag() : error(entries[0].rejected);
  }
  // As the database will answer, so that whoever asks it chooses the same.
  const auto best = std::ranges::min_element(entries, listed_before);
  const bool any = best != entries.end() && best->rejected.empty();
  known_[open.text] = any ? Tuned{best->schedule, best->seconds} : Tuned{"", kInterpretedSeconds};
  return options_.db == nullptr ? Expected<void>() : options_.db->keep(entries);
}

}  // namespace lumen::search
