#include "bench/suite/profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "bench/suite/table.h"
#include "lumen/base/statistics.h"

namespace lumen::bench {

namespace {

constexpr const char* kRowFormat = "{:>9}  {:>5.1f} %  {:>5}  {:>6}  {:>6}  {:>7}  {:>6}  {}\n";

std::string share_cell(double share) { return share > 0 ? fmt::format("{:.0f} %", 100 * share) : ""; }
std::string rate_cell(double rate) { return rate > 0 ? fmt::format("{:.1f}", rate / 1e9) : ""; }

std::string kernel_row(const KernelProfile& kernel, const Limits& limits, double wall) {
  return fmt::format(kRowFormat, time_text(kernel.seconds), 100 * kernel.seconds / wall, kernel.calls,
                     rate_cell(kernel.bytes_per_second()), share_cell(kernel.memory_share(limits)),
                     rate_cell(kernel.flops_per_second()), share_cell(kernel.compute_share(limits)),
                     fmt::format("{}  [{}]", kernel.name, kernel.schedule.empty() ? "interpreted" : kernel.schedule));
}

std::string plain_row(double seconds, double wall, int64_t calls, const std::string& what) {
  return fmt::format(kRowFormat, time_text(seconds), 100 * seconds / wall, calls > 0 ? fmt::format("{}", calls) : "",
                     "", "", "", "", what);
}

}  // namespace

double KernelProfile::memory_share(const Limits& limits) const {
  const double limit = limits.copy_rate(work.bytes / static_cast<double>(std::max<int64_t>(calls, 1)));
  return limit > 0 ? bytes_per_second() / limit : 0;
}

double KernelProfile::compute_share(const Limits& limits) const {
  const double limit = work.matrix ? limits.matrix_rate(*work.matrix) : limits.f32_flops;
  return limit > 0 ? flops_per_second() / limit : 0;
}

void Profile::add_run(std::span<const CallTime> calls, double wall_seconds) {
  walls_.push_back(wall_seconds);
  betweens_.push_back(wall_seconds);
  for (const CallTime& call : calls) {
    auto entry = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& each) {
      return each.kernel.name == call.name && each.kernel.schedule == call.schedule;
    });
    if (entry == entries_.end()) {
      KernelProfile kernel{call.name, call.schedule, 0, 0, {0, 0, call.work.matrix}};
      entry = entries_.insert(entry, Entry{std::move(kernel), {}});
    }
    if (entry->seconds.size() < walls_.size()) {  // the first call of this run
      entry->seconds.resize(walls_.size(), 0);
      entry->kernel.calls = 0;
      entry->kernel.work.bytes = entry->kernel.work.flops = 0;
    }
    entry->seconds.back() += call.seconds;
    betweens_.back() -= call.seconds;
    ++entry->kernel.calls;
    entry->kernel.work.bytes += call.work.bytes;
    entry->kernel.work.flops += call.work.flops;
  }
}

std::vector<KernelProfile> Profile::kernels() const {
  std::vector<KernelProfile> result;
  for (const Entry& entry : entries_) {
    result.push_back(entry.kernel);
    result.back().seconds = median(entry.seconds);
  }
  std::stable_sort(result.begin(), result.end(),
                   [](const KernelProfile& a, const KernelProfile& b) { return a.seconds > b.seconds; });
  return result;
}

double Profile::wall() const { return walls_.empty() ? 0 : median(walls_); }
double Profile::between() const { return betweens_.empty() ? 0 : std::max(0.0, median(betweens_)); }

std::string profile_table(const Profile& profile, const Limits& limits, double least) {
  const double wall = profile.wall();
  if (wall <= 0) return "no run was profiled\n";
  std::string text = fmt::format("{:>9}  {:>7}  {:>5}  {:>6}  {:>6}  {:>7}  {:>6}  {}\n", "time", "share", "calls",
                                 "GB/s", "MBU", "GFLOP/s", "MFU", "kernel");
  double small = 0;
  int64_t calls = 0, small_calls = 0;
  for (const KernelProfile& kernel : profile.kernels()) {
    calls += kernel.calls;
    if (kernel.seconds >= least * wall) {
      text += kernel_row(kernel, limits, wall);
    } else {
      small += kernel.seconds;
      small_calls += kernel.calls;
    }
  }
  if (small_calls > 0) text += plain_row(small, wall, small_calls, "others, each small");
  text += plain_row(profile.between(), wall, 0, "between kernels");
  const std::string all = profile.runs() == 1 ? "in all" : fmt::format("in all, the median of {} runs", profile.runs());
  return text + plain_row(wall, wall, calls, all);
}

std::string profile_json(const Profile& profile, const Limits& limits) {
  nlohmann::ordered_json kernels = nlohmann::ordered_json::array();
  for (const KernelProfile& kernel : profile.kernels()) {
    kernels.push_back({{"name", kernel.name},
                       {"schedule", kernel.schedule},
                       {"calls", kernel.calls},
                       {"seconds", kernel.seconds},
                       {"share", kernel.seconds / profile.wall()},
                       {"bytes", kernel.work.bytes},
                       {"flops", kernel.work.flops},
                       {"gb_per_second", kernel.bytes_per_second() / 1e9},
                       {"gflop_per_second", kernel.flops_per_second() / 1e9},
                       {"mbu", kernel.memory_share(limits)},
                       {"mfu", kernel.compute_share(limits)}});
  }
  const nlohmann::ordered_json whole = {{"seconds", profile.wall()},
                                        {"between_kernels_seconds", profile.between()},
                                        {"runs", profile.runs()},
                                        {"kernels", kernels}};
  return whole.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace lumen::bench
