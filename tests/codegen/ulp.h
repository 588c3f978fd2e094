// How far a result is from the exact value, in units of the last place of the exact value's neighbourhood.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace lumen {

// The last place of a number near `near`: in double for f32, in long double for f64, whose last places double lacks.
inline double last_place(float near) {
  const uint64_t exponent = std::bit_cast<uint32_t>(near) >> 23 & 0xff;
  return std::bit_cast<double>(((exponent == 0 ? 1 : exponent) + 1023 - 150) << 52);
}
inline long double last_place(double near) {
  const int exponent = static_cast<int>(std::bit_cast<uint64_t>(near) >> 52 & 0x7ff);
  return std::ldexp(1.0L, (exponent == 0 ? 1 : exponent) - 1075);
}

// Infinite where NaN, an infinity, or the sign of a zero differs. Wide is more exact than T.
template <class T, class Wide>
double ulp_error(T got, Wide exact) {
  constexpr double kWrong = std::numeric_limits<double>::infinity();
  const T near = static_cast<T>(exact);
  if (std::isnan(near) || std::isnan(got)) return std::isnan(near) && std::isnan(got) ? 0 : kWrong;
  if (std::isinf(near) || std::isinf(got)) return near == got ? 0 : kWrong;
  if (near == 0 && got == 0) return std::signbit(near) == std::signbit(got) ? 0 : kWrong;
  const Wide distance = static_cast<Wide>(got) - exact;
  return static_cast<double>(std::fabs(distance) / last_place(near));
}

}  // namespace lumen
