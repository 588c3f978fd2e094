#include "lumen/search/finalists.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "lumen/base/log.h"
#include "lumen/base/statistics.h"
#include "lumen/ir/text.h"
#include "lumen/search/measure.h"

namespace lumen::search {

namespace {

constexpr double kClearly = 1.005;  // times faster than the first,
constexpr double kErrors = 3;       // by more than so many standard errors
constexpr double kWorthIt = 1.01;   // what is not faster than the first by this, is not tried for longer
constexpr int64_t kTrials = 15;     // at least: deviations of fewer are by chance, too
constexpr const char* kKernel = "[fastest program]";

// How long each takes beside the first: seconds are the first's times the ratio of those that took turns.
struct Result {
  double seconds = 0;
  double error = 0;  // of seconds, by chance
  int64_t trials = 0;
};

// Faster than the first, and not by chance. On a machine that others use, too, a few trials say little: nothing is
// changed by them.
bool is_clearly_faster(const Result& first, const Result& other) {
  return kClearly * (other.seconds + kErrors * other.error) < first.seconds;
}
bool is_not_worth_more(const Result& first, const Result& other) {
  return kWorthIt * (other.seconds - kErrors * other.error) > first.seconds;
}

std::vector<Result> results_of(std::span<const std::vector<double>> times) {
  std::vector<Result> results;
  const double first = median(times[0]);
  for (const std::vector<double>& own : times) {
    const PairedRatio ratio = paired_ratio(own, times[0]);
    results.push_back({first * ratio.median, first * ratio.error, std::ssize(own)});
  }
  return results;
}

bool is_decided(std::span<const std::vector<double>> times) {
  const std::vector<Result> results = results_of(times);
  return std::ranges::all_of(results, [&](const Result& each) {
    return is_clearly_faster(results[0], each) || is_not_worth_more(results[0], each);
  });
}

// Of each; of none when one does not run on random inputs.
Expected<std::vector<Result>> race(std::span<const Program* const> programs, const Device& device,
                                   const FinalistOptions& options) {
  const TraceScope scope(options.trace, fmt::format("measure {} programs", programs.size()), "tune");
  std::vector<Program> copies;
  for (const Program* program : programs) copies.push_back(*program);
  std::vector<Binary> binaries = LUMEN_TRY(device.build_to_try(std::move(copies)));
  std::vector<std::unique_ptr<Executable>> loaded;
  Contest contest{{}, programs[0]->graph.get(), options.dims, true, kTrials};
  contest.is_decided = is_decided;
  for (Binary& binary : binaries) {
    loaded.push_back(LUMEN_TRY(device.load(std::move(binary))));
    contest.kernels.push_back(loaded.back().get());
  }
  const std::vector<Expected<Timing>> timings = measure(contest);
  LUMEN_TRY(device.usable());
  std::vector<std::vector<double>> times;
  for (const Expected<Timing>& timing : timings) {
    if (!timing.ok()) return std::vector<Result>();
    times.push_back(timing->times);
  }
  return results_of(times);
}

Finalists finalists_of(std::span<const Result> results) {
  Finalists finalists;
  for (size_t k = 0; k < results.size(); ++k) {
    finalists.seconds.push_back(results[k].seconds);
    LUMEN_LOG(2, fmt::format("finalist: {:.4g} s, +- {:.2g}, {} trials", results[k].seconds, results[k].error,
                             results[k].trials));
    if (!is_clearly_faster(results[0], results[k])) continue;
    if (finalists.fastest == 0 || results[k].seconds < results[finalists.fastest].seconds) finalists.fastest = k;
  }
  return finalists;
}

}  // namespace

std::string program_hash(const Program& program) {
  std::string content = print(*program.graph);
  for (const ProgramKernel& kernel : program.kernels) content += kernel.schedule + kernel.text.text;
  for (const ProgramCall& call : program.calls) {
    content += fmt::format("{} {} {}\n", call.kernel, fmt::join(call.operands, ","), fmt::join(call.results, ","));
  }
  return kernel_hash(content);
}

Expected<Finalists> race_programs(std::span<const Program* const> programs, const Device& device,
                                  const FinalistOptions& options) {
  std::vector<std::string> hashes;
  for (const Program* program : programs) hashes.push_back(program_hash(*program));
  if (std::ranges::count(hashes, hashes[0]) == std::ssize(hashes)) return Finalists{};
  const std::string fingerprint = device.fingerprint();
  const std::string shape = fmt::format("{} {}", fmt::join(hashes, " "), device.setting());
  const auto known = [&]() -> Expected<std::vector<Result>> {
    const std::vector<TuningEntry> entries = LUMEN_TRY(options.db->find({fingerprint, kKernel, shape}));
    std::vector<Result> results;
    for (const std::string& hash : hashes) {
      const auto found = std::ranges::find(entries, hash, &TuningEntry::schedule);
      if (found != entries.end()) results.push_back({found->seconds, found->spread, found->trials});
    }
    return results;
  };
  if (options.db == nullptr) return finalists_of(LUMEN_TRY(race(programs, device, options)));
  std::vector<Result> results = LUMEN_TRY(known());
  if (results.size() == hashes.size()) return finalists_of(results);
  const MeasuringLock lock = options.db->lock_measuring();
  results = LUMEN_TRY(known());  // by another process, in the meantime
  if (results.size() == hashes.size()) return finalists_of(results);
  results = LUMEN_TRY(race(programs, device, options));
  std::vector<TuningEntry> entries;
  for (size_t k = 0; k < results.size(); ++k) {
    TuningEntry& entry = entries.emplace_back();
    entry.fingerprint = fingerprint;
    entry.kernel = kKernel;
    entry.shape = shape;
    entry.schedule = hashes[k];
    entry.seconds = results[k].seconds;
    entry.spread = results[k].error;
    entry.trials = results[k].trials;
    entry.date = search::now();
  }
  LUMEN_TRY(options.db->keep(entries));
  return finalists_of(results);
}

}  // namespace lumen::search
