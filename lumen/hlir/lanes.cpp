#include "lumen/hlir/lanes.h"

#include <algorithm>
#include <array>
#include <limits>

namespace lumen::hlir {

void settle(DType dtype, Lane* lanes, int64_t count) {
  const DTypeInfo& about = info(dtype);
  if (about.bits == 64) return;
  if (dtype == DType::f32) {  // by far the most common
    for_each_lane(count, [=](int64_t k) { lanes[k].f = static_cast<double>(static_cast<float>(lanes[k].f)); });
  } else if (is_float(dtype)) {
    for (int64_t k = 0; k < count; ++k) lanes[k].f = round_to(dtype, lanes[k].f);
  } else if (is_bool(dtype)) {
    for (int64_t k = 0; k < count; ++k) lanes[k].i = lanes[k].i != 0 ? 1 : 0;
  } else {
    const int spare = 64 - about.bits;
    for (int64_t k = 0; k < count; ++k) {
      const uint64_t high = static_cast<uint64_t>(lanes[k].i) << spare;
      lanes[k].i = is_unsigned(dtype) ? static_cast<int64_t>(high >> spare) : static_cast<int64_t>(high) >> spare;
    }
  }
}

Lane lowest(DType dtype) {
  if (is_bool(dtype) || is_unsigned(dtype)) return Lane{.i = 0};
  if (!is_float(dtype)) return Lane{.i = std::numeric_limits<int64_t>::min() >> (64 - info(dtype).bits)};
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const double rounded = round_to(dtype, -kInfinity);
  if (std::isinf(rounded)) return Lane{.f = rounded};
  CHECK(info(dtype).bits <= 8, "only narrow floats lack an infinity");
  double least = kInfinity;
  for (unsigned code = 0; code < 1U << info(dtype).bits; ++code) {
    const std::array bytes{static_cast<std::byte>(code)};
    std::array<Lane, 1> lane{};
    unpack(dtype, bytes, lane);
    if (lane[0].f < least) least = lane[0].f;
  }
  return Lane{.f = least};
}

}  // namespace lumen::hlir
