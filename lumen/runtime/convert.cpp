#include "lumen/runtime/convert.h"

#include <cmath>

namespace lumen {

namespace {

std::optional<Lane> convert_float(double value, DType to) {
  if (is_float(to)) {
    const double rounded = round_to(to, value);
    const bool kept = std::isfinite(value) ? std::isfinite(rounded)
                      : std::isnan(value)  ? std::isnan(rounded)
                                           : rounded == value;
    return kept ? std::optional(Lane{.f = rounded}) : std::nullopt;
  }
  const bool wide = to == DType::u64 && value >= 0x1p63;
  if (std::trunc(value) != value || !(value >= -0x1p63 && value < (wide ? 0x1p64 : 0x1p63))) return {};
  const int64_t whole = wide ? static_cast<int64_t>(static_cast<uint64_t>(value)) : static_cast<int64_t>(value);
  if (to == DType::u64) return value >= 0 ? std::optional(Lane{.i = whole}) : std::nullopt;
  return wrap_to(to, whole) == whole ? std::optional(Lane{.i = whole}) : std::nullopt;
}

std::optional<Lane> convert_int(int64_t value, bool is_u64, DType to) {
  const bool beyond_i64 = is_u64 && value < 0;
  if (is_float(to)) {
    const double wide = is_u64 ? static_cast<double>(static_cast<uint64_t>(value)) : static_cast<double>(value);
    const std::optional<Lane> back = convert_float(wide, is_u64 ? DType::u64 : DType::i64);
    const bool exact = back && back->i == value && round_to(to, wide) == wide;
    return exact ? std::optional(Lane{.f = wide}) : std::nullopt;
  }
  if (to == DType::u64) return is_u64 || value >= 0 ? std::optional(Lane{.i = value}) : std::nullopt;
  return !beyond_i64 && wrap_to(to, value) == value ? std::optional(Lane{.i = value}) : std::nullopt;
}

}  // namespace

std::optional<size_t> convert(DType from, DType to, std::span<Lane> lanes) {
  for (size_t k = 0; k < lanes.size(); ++k) {
    const std::optional<Lane> converted =
        is_float(from) ? convert_float(lanes[k].f, to) : convert_int(lanes[k].i, from == DType::u64, to);
    if (!converted) return k;
    lanes[k] = *converted;
  }
  return {};
}

}  // namespace lumen
