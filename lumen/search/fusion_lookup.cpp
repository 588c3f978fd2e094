#include "lumen/search/fusion_lookup.h"

#include <algorithm>
#include <cmath>

namespace lumen::search {

namespace {

using TimesByShape = std::map<FusionShape, FusionTimes>;

double distance(const FusionShape& a, const FusionShape& b) {
  double sum = 0;
  for (size_t d = 0; d < a.size(); ++d) {
    sum += std::abs(std::log2(static_cast<double>(a[d])) - std::log2(static_cast<double>(b[d])));
  }
  return sum;
}

// A box of shapes, both ends included.
struct Box {
  FusionShape low, high;

  bool holds(const FusionShape& shape) const {
    for (size_t d = 0; d < shape.size(); ++d) {
      if (shape[d] < low[d] || shape[d] > high[d]) return false;
    }
    return true;
  }
  // Bit d of `number` says which end of dim d.
  FusionShape corner(size_t number) const {
    FusionShape shape = low;
    for (size_t d = 0; d < shape.size(); ++d) {
      if ((number >> d & 1) != 0) shape[d] = high[d];
    }
    return shape;
  }
  size_t corners() const { return size_t{1} << low.size(); }
  bool is_measured(const TimesByShape& points) const {
    for (size_t k = 0; k < corners(); ++k) {
      if (!points.contains(corner(k))) return false;
    }
    return true;
  }
};

std::optional<Box> smallest_box(const TimesByShape& points, const FusionShape& shape) {
  std::optional<Box> best;
  double best_size = INFINITY;
  for (const auto& [low, low_times] : points) {
    for (const auto& [high, high_times] : points) {
      const Box box{low, high};
      const double size = distance(low, high);
      if (size >= best_size || !box.holds(shape) || !box.is_measured(points)) continue;
      best = box;
      best_size = size;
    }
  }
  return best;
}

// The share of a corner at `shape`; all of them together are 1.
double weight(const Box& box, size_t corner, const FusionShape& shape) {
  double product = 1;
  for (size_t d = 0; d < shape.size(); ++d) {
    const double low = std::log2(static_cast<double>(box.low[d])), high = std::log2(static_cast<double>(box.high[d]));
    const double at = high > low ? (std::log2(static_cast<double>(shape[d])) - low) / (high - low) : 0;
    product *= (corner >> d & 1) != 0 ? at : 1 - at;
  }
  return product;
}

FusionTimes interpolated(const TimesByShape& points, const Box& box, const FusionShape& shape) {
  FusionTimes logs;
  for (size_t k = 0; k < box.corners(); ++k) {
    const FusionTimes& times = points.at(box.corner(k));
    const double share = weight(box, k, shape);
    logs.fused += share * std::log(times.fused);
    logs.unfused += share * std::log(times.unfused);
    logs.fused_spread = std::max(logs.fused_spread, times.fused_spread);
    logs.unfused_spread = std::max(logs.unfused_spread, times.unfused_spread);
  }
  logs.fused = std::exp(logs.fused);
  logs.unfused = std::exp(logs.unfused);
  return logs;
}

}  // namespace

std::string_view name(FusionSource source) {
  switch (source) {
    case FusionSource::exact:
      return "exact";
    case FusionSource::interpolated:
      return "interpolated";
    case FusionSource::nearest:
      return "nearest";
  }
  return "";
}

std::optional<FusionFound> look_up(const FusionProfile& profile, const std::string& pattern, const FusionShape& shape) {
  const auto found = profile.patterns.find(pattern);
  if (found == profile.patterns.end() || found->second.empty()) return std::nullopt;
  const TimesByShape& points = found->second;
  if (points.begin()->first.size() != shape.size()) return std::nullopt;
  if (const auto exact = points.find(shape); exact != points.end()) {
    return FusionFound{exact->second, FusionSource::exact, shape};
  }
  if (const std::optional<Box> box = smallest_box(points, shape)) {
    return FusionFound{interpolated(points, *box, shape), FusionSource::interpolated, shape};
  }
  const auto nearest = std::ranges::min_element(points, {}, [&](const auto& p) { return distance(p.first, shape); });
  return FusionFound{nearest->second, FusionSource::nearest, nearest->first};
}

bool should_fuse(const FusionTimes& times, double margin) { return times.unfused > times.fused * (1 + margin); }

}  // namespace lumen::search
