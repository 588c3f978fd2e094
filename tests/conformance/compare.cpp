#include "tests/conformance/compare.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <limits>

#include "lumen/hlir/coordinates.h"

namespace lumen::conformance {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

std::string type_text(const HostTensor& tensor) {
  return fmt::format("{}[{}]", name(tensor.dtype), fmt::join(tensor.dims, ","));
}

std::string lane_text(DType dtype, Lane lane) {
  return is_float(dtype) ? fmt::format("{}", lane.f) : fmt::format("{}", lane.i);
}

// The error in units of what is allowed: at most 1 passes.
double error_ratio(const ExpectedTensor& expected, Lane want, Lane got) {
  if (!is_float(expected.tensor.dtype)) return want.i == got.i ? 0 : kInfinity;
  if (std::isnan(want.f) || std::isnan(got.f)) return std::isnan(want.f) && std::isnan(got.f) ? 0 : kInfinity;
  if (expected.exact) return want.i == got.i ? 0 : kInfinity;
  if (want.f == got.f) return 0;
  if (std::isinf(want.f) || std::isinf(got.f)) return kInfinity;
  const double allowed = expected.atol + expected.rtol * std::abs(want.f);
  return allowed > 0 ? std::abs(want.f - got.f) / allowed : kInfinity;
}

}  // namespace

Comparison compare(const ExpectedTensor& expected, const HostTensor& got) {
  const HostTensor& want = expected.tensor;
  if (want.dtype != got.dtype || want.dims != got.dims || want.numel() != got.numel()) {
    return {false, kInfinity, fmt::format("expected {}, got {}", type_text(want), type_text(got))};
  }
  Comparison result;
  size_t worst = 0;
  int64_t bad = 0;
  for (size_t k = 0; k < want.lanes.size(); ++k) {
    const double ratio = error_ratio(expected, want.lanes[k], got.lanes[k]);
    if (!(ratio <= 1)) ++bad;
    if (ratio > result.ratio) {
      result.ratio = ratio;
      worst = k;
    }
  }
  if (bad == 0) return result;
  result.passed = false;
  const Lane w = want.lanes[worst], g = got.lanes[worst];
  const std::string size = is_float(want.dtype)
                               ? fmt::format("error {:.3g}, allowed {:.3g}", std::abs(w.f - g.f),
                                             expected.exact ? 0.0 : expected.atol + expected.rtol * std::abs(w.f))
                               : "must be equal";
  result.problem = fmt::format("{} of {} differ; worst at [{}]: expected {}, got {} ({})", bad, want.numel(),
                               fmt::join(hlir::coordinates_at(static_cast<int64_t>(worst), want.dims), ","),
                               lane_text(want.dtype, w), lane_text(want.dtype, g), size);
  return result;
}

}  // namespace lumen::conformance
