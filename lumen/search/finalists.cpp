#include "lumen/search/finalists.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "lumen/base/log.h"
#include "lumen/ir/text.h"
#include "lumen/search/measure.h"

namespace lumen::search {

namespace {

constexpr double kClearly = 1.01;  // times faster than the first
constexpr const char* kKernel = "[fastest program]";

// Seconds of each; of none when one does not run on random inputs.
Expected<std::vector<double>> race(std::span<const Program* const> programs, const Device& device,
                                   const FinalistOptions& options) {
  const TraceScope scope(options.trace, fmt::format("measure {} programs", programs.size()), "tune");
  std::vector<Program> copies;
  for (const Program* program : programs) copies.push_back(*program);
  std::vector<Binary> binaries = LUMEN_TRY(device.build(std::move(copies)));
  std::vector<std::unique_ptr<Executable>> loaded;
  Contest contest{{}, programs[0]->graph.get(), options.dims, true};
  for (Binary& binary : binaries) {
    loaded.push_back(LUMEN_TRY(device.load(std::move(binary))));
    contest.kernels.push_back(loaded.back().get());
  }
  std::vector<double> seconds;
  const std::vector<Expected<Timing>> timings = measure(contest);
  LUMEN_TRY(device.usable());
  for (const Expected<Timing>& timing : timings) {
    if (!timing.ok()) return std::vector<double>();
    seconds.push_back(timing->seconds);
  }
  return seconds;
}

Finalists finalists_of(std::vector<double> seconds) {
  Finalists finalists{0, std::move(seconds)};
  if (finalists.seconds.empty()) return finalists;
  LUMEN_LOG(2, fmt::format("finalists: {::.3g} s", finalists.seconds));
  const auto fastest = std::ranges::min_element(finalists.seconds);
  if (*fastest * kClearly < finalists.seconds[0]) {
    finalists.fastest = static_cast<size_t>(fastest - finalists.seconds.begin());
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
  const auto known = [&]() -> Expected<std::vector<double>> {
    const std::vector<TuningEntry> entries = LUMEN_TRY(options.db->find({fingerprint, kKernel, shape}));
    std::vector<double> seconds;
    for (const std::string& hash : hashes) {
      const auto found = std::ranges::find(entries, hash, &TuningEntry::schedule);
      if (found != entries.end()) seconds.push_back(found->seconds);
    }
    return seconds;
  };
  if (options.db == nullptr) return finalists_of(LUMEN_TRY(race(programs, device, options)));
  std::vector<double> seconds = LUMEN_TRY(known());
  if (seconds.size() == hashes.size()) return finalists_of(std::move(seconds));
  const MeasuringLock lock = options.db->lock_measuring();
  seconds = LUMEN_TRY(known());  // by another process, in the meantime
  if (seconds.size() == hashes.size()) return finalists_of(std::move(seconds));
  seconds = LUMEN_TRY(race(programs, device, options));
  std::vector<TuningEntry> entries;
  for (size_t k = 0; k < seconds.size(); ++k) {
    TuningEntry& entry = entries.emplace_back();
    entry.fingerprint = fingerprint;
    entry.kernel = kKernel;
    entry.shape = shape;
    entry.schedule = hashes[k];
    entry.seconds = seconds[k];
    entry.trials = 1;
    entry.date = search::now();
  }
  LUMEN_TRY(options.db->keep(entries));
  return finalists_of(std::move(seconds));
}

}  // namespace lumen::search
