#include "bench/suite/table.h"

#include <fmt/format.h>

#include <algorithm>

namespace lumen::bench {

namespace {

std::string bytes_text(double bytes) {
  return bytes < (1 << 20) ? fmt::format("{:.0f} KiB", bytes / 1024) : fmt::format("{:.0f} MiB", bytes / (1 << 20));
}

std::string rate_text(double flops) { return flops == 0 ? "none" : fmt::format("{:.0f} GFLOP/s", flops / 1e9); }

std::string share_text(double share) { return fmt::format("{:.0f} %", 100 * share); }

std::string spread_text(const Summary& time) { return fmt::format("{:.1f} %", 100 * time.mad / time.median); }

std::string result_row(const Result& result, const Limits& limits, size_t width) {
  if (!result.problem.empty()) {
    return fmt::format("{:<{}}  {}\n", result.name, width, result.problem.substr(0, result.problem.find('\n')));
  }
  const bool computes = result.flops > 0;
  const std::string compile =
      fmt::format("{:.2f} s{}", result.compile.seconds, result.compile.measured > 0 ? "*" : " ");
  return fmt::format("{:<{}}  {:>8}  {:>7}  {:>6.1f}  {:>6}  {:>7}  {:>6}  {:>5}  {:>8}  {:>6.2f} s\n", result.name,
                     width, time_text(result.time.median), spread_text(result.time), result.bytes_per_second() / 1e9,
                     share_text(result.memory_share(limits)),
                     computes ? fmt::format("{:.1f}", result.flops_per_second() / 1e9) : "",
                     computes ? share_text(result.compute_share(limits)) : "", result.compile.calls, compile,
                     result.compile.again_seconds);
}

}  // namespace

std::string time_text(double seconds) {
  int unit = 0;
  constexpr const char* kNames[] = {"s", "ms", "us", "ns"};
  for (; unit < 3 && seconds < 0.9995; ++unit) seconds *= 1e3;
  return fmt::format("{:.{}f} {}", seconds, seconds < 9.995 ? 2 : seconds < 99.95 ? 1 : 0, kNames[unit]);
}

std::string limits_text(const Limits& limits) {
  std::string copies;
  for (const CopyRate& copy : limits.copies) {
    copies += fmt::format("{}{:.0f} GB/s at {}", copies.empty() ? "" : ", ", copy.rate / 1e9, bytes_text(copy.bytes));
  }
  return fmt::format("measured limits of {} thread{}\n  copy  {}\n  flops f32 {}, bf16 tiles {}, int8 tiles {}\n",
                     limits.threads, limits.threads == 1 ? "" : "s", copies, rate_text(limits.f32_flops),
                     rate_text(limits.bf16_flops), rate_text(limits.i8_flops));
}

std::string results_table(const Report& report) {
  size_t width = 4;
  for (const Result& result : report.results) width = std::max(width, result.name.size());
  std::string text = fmt::format("{:<{}}  {:>8}  {:>7}  {:>6}  {:>6}  {:>7}  {:>6}  {:>5}  {:>8}  {:>8}\n", "case",
                                 width, "median", "mad", "GB/s", "MBU", "GFLOP/s", "MFU", "calls", "compile ", "again");
  const std::string* group = nullptr;
  for (const Result& result : report.results) {
    if (group != nullptr && *group != result.group) text += "\n";
    group = &result.group;
    text += result_row(result, report.limits, width);
  }
  const bool measured = std::any_of(report.results.begin(), report.results.end(),
                                    [](const Result& result) { return result.compile.measured > 0; });
  if (measured) text += "* kernels were timed while compiling; `again` is a second compile that finds them known\n";
  return text;
}

std::string comparison_text(const Comparison& comparison) {
  std::string text;
  int64_t faster = 0;
  size_t width = 0;
  for (const Comparison::Row& row : comparison.rows) width = std::max(width, row.name.size());
  for (const std::string& name : comparison.lost) width = std::max(width, name.size());
  for (const Comparison::Row& row : comparison.rows) {
    faster += row.change == Change::faster ? 1 : 0;
    if (row.change == Change::none) continue;
    text += fmt::format("{:<{}}  {:>8} -> {:>8}  {:+.1f} %  {}\n", row.name, width, time_text(row.before.median),
                        time_text(row.after.median), 100 * (row.after.median / row.before.median - 1),
                        row.change == Change::slower ? "SLOWER" : "faster");
  }
  for (const std::string& name : comparison.lost) text += fmt::format("{:<{}}  has no time any more\n", name, width);
  const int64_t same = static_cast<int64_t>(comparison.rows.size()) - faster - comparison.slower();
  text += fmt::format("{} slower, {} faster, {} within noise, {} new\n", comparison.slower(), faster, same,
                      comparison.only_after.size());
  return text;
}

}  // namespace lumen::bench
