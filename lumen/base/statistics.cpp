#include "lumen/base/statistics.h"

#include <algorithm>
#include <cmath>

#include "lumen/base/check.h"

namespace lumen {

namespace {

constexpr double kDeviations = 3;
constexpr double kShare = 0.02;

}  // namespace

double median(std::vector<double> values) {
  CHECK(!values.empty(), "median of nothing");
  std::sort(values.begin(), values.end());
  const size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

Summary summarise(const std::vector<double>& values) {
  Summary summary{median(values), 0, static_cast<int64_t>(values.size())};
  std::vector<double> off;
  for (const double value : values) off.push_back(std::abs(value - summary.median));
  summary.mad = median(std::move(off));
  return summary;
}

Change change_between(const Summary& before, const Summary& after) {
  const double moved = after.median - before.median;
  const double allowed = std::max(kDeviations * std::max(before.mad, after.mad), kShare * before.median);
  if (std::abs(moved) <= allowed) return Change::none;
  return moved > 0 ? Change::slower : Change::faster;
}

bool PairedRatio::is_behind() const { return median > 1 + kShare; }
bool PairedRatio::loses() const { return is_behind() && median - kDeviations * error > 1; }

PairedRatio paired_ratio(const std::vector<double>& own, const std::vector<double>& other) {
  constexpr double kErrorOfMedian = 1.25 * 1.4826;  // of normal numbers, by their median deviation
  CHECK(own.size() == other.size(), "timings without a partner");
  std::vector<double> ratios;
  for (size_t k = 0; k < own.size(); ++k) ratios.push_back(own[k] / other[k]);
  const Summary found = summarise(ratios);
  return {found.median, kErrorOfMedian * found.mad / std::sqrt(static_cast<double>(ratios.size()))};
}

}  // namespace lumen
