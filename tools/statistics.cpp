#include "tools/statistics.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "lumen/base/check.h"
#include "lumen/hlir/coordinates.h"

namespace lumen::tools {

namespace {

constexpr int64_t kShown = 8;

double value_of(const HostTensor& tensor, size_t k) {
  const Lane lane = tensor.lanes[k];
  if (is_float(tensor.dtype)) return lane.f;
  return tensor.dtype == DType::u64 ? static_cast<double>(static_cast<uint64_t>(lane.i)) : static_cast<double>(lane.i);
}

std::string shown(const HostTensor& tensor, size_t k) {
  const Lane lane = tensor.lanes[k];
  if (is_float(tensor.dtype)) return fmt::format("{:.6g}", lane.f);
  if (is_bool(tensor.dtype)) return lane.i != 0 ? "true" : "false";
  return tensor.dtype == DType::u64 ? fmt::format("{}", static_cast<uint64_t>(lane.i)) : fmt::format("{}", lane.i);
}

double absolute_error(double expected, double got) {
  if (expected == got || (std::isnan(expected) && std::isnan(got))) return 0;
  if (!std::isfinite(expected) || !std::isfinite(got)) return std::numeric_limits<double>::infinity();
  return std::abs(got - expected);
}

// Sums for the cosine: of the pairs that are finite.
struct Products {
  double both = 0, expected = 0, got = 0;
  void add(double e, double g) {
    if (!std::isfinite(e) || !std::isfinite(g)) return;
    both += e * g;
    expected += e * e;
    got += g * g;
  }
  double cosine() const {
    if (expected == 0 && got == 0) return 1;
    return expected == 0 || got == 0 ? 0 : both / (std::sqrt(expected) * std::sqrt(got));
  }
};

}  // namespace

std::string type_text(const HostTensor& tensor) {
  return fmt::format("{}[{}]", name(tensor.dtype), fmt::join(tensor.dims, ","));
}

std::string summary(const HostTensor& tensor) {
  std::string text = "  ";
  for (size_t k = 0; k < static_cast<size_t>(std::min(kShown, tensor.numel())); ++k) {
    text += (k == 0 ? "" : ", ") + shown(tensor, k);
  }
  if (tensor.numel() == 0) return text + "no values";
  if (tensor.numel() > kShown) text += fmt::format(", … ({} values)", tensor.numel());
  double lowest = std::numeric_limits<double>::infinity(), highest = -lowest, sum = 0;
  int64_t nans = 0, infinities = 0;
  for (size_t k = 0; k < tensor.lanes.size(); ++k) {
    const double value = value_of(tensor, k);
    nans += std::isnan(value) ? 1 : 0;
    infinities += std::isinf(value) ? 1 : 0;
    if (std::isnan(value)) continue;
    lowest = std::min(lowest, value);
    highest = std::max(highest, value);
    sum += value;
  }
  if (nans == tensor.numel()) return text + fmt::format("\n  all NaN");
  return text + fmt::format("\n  min {:.6g}, max {:.6g}, mean {:.6g}, {} NaN, {} infinite", lowest, highest,
                            sum / static_cast<double>(tensor.numel() - nans), nans, infinities);
}

Difference compare(const HostTensor& expected, const HostTensor& got, double atol, double rtol) {
  CHECK(expected.dims == got.dims);
  Difference result;
  result.count = got.numel();
  Products products;
  double worst_excess = -std::numeric_limits<double>::infinity(), sum = 0;
  for (size_t k = 0; k < got.lanes.size(); ++k) {
    const double e = value_of(expected, k), g = value_of(got, k);
    result.nan_expected += std::isnan(e) ? 1 : 0;
    result.nan_got += std::isnan(g) ? 1 : 0;
    result.inf_expected += std::isinf(e) ? 1 : 0;
    result.inf_got += std::isinf(g) ? 1 : 0;
    const double error = absolute_error(e, g);
    const double allowed = std::isfinite(e) ? atol + rtol * std::abs(e) : 0;
    sum += error;
    result.max_abs = std::max(result.max_abs, error);
    if (error > 0) result.max_rel = std::max(result.max_rel, std::isfinite(e) ? error / std::abs(e) : error);
    result.mismatches += error > allowed ? 1 : 0;
    if (error - allowed > worst_excess) {
      worst_excess = error - allowed;
      result.worst = hlir::coordinates_at(static_cast<int64_t>(k), got.dims);
      result.worst_expected = e;
      result.worst_got = g;
    }
    products.add(e, g);
  }
  result.mean_abs = result.count == 0 ? 0 : sum / static_cast<double>(result.count);
  result.cosine = products.cosine();
  return result;
}

std::string describe(const Difference& d, double atol, double rtol) {
  if (d.count == 0) return "  no values to compare";
  const double percent = 100.0 * static_cast<double>(d.mismatches) / static_cast<double>(d.count);
  return fmt::format(
      "  max abs error {:.6g}, mean abs error {:.6g}, max rel error {:.6g}, cosine similarity {:.9f}\n"
      "  {} of {} values ({:.3g}%) beyond {:g} + {:g}*|expected|\n"
      "  worst at [{}]: expected {:.9g}, got {:.9g}\n"
      "  NaN: {} expected, {} got; infinite: {} expected, {} got",
      d.max_abs, d.mean_abs, d.max_rel, d.cosine, d.mismatches, d.count, percent, atol, rtol, fmt::join(d.worst, ","),
      d.worst_expected, d.worst_got, d.nan_expected, d.nan_got, d.inf_expected, d.inf_got);
}

}  // namespace lumen::tools
