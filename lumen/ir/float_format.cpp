#include "lumen/ir/float_format.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace lumen {

namespace {

constexpr int kMantissa = 52;  // of f64
constexpr int kBias = 1023;
constexpr uint64_t kMantissaMask = (uint64_t{1} << kMantissa) - 1;
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// What the largest exponent code means beside numbers.
enum class Specials : uint8_t { ieee, one_nan, none };

Specials specials(const DTypeInfo& format) {
  if (format.dtype == DType::f8e4m3) return Specials::one_nan;
  return format.bits < 8 ? Specials::none : Specials::ieee;
}

constexpr double power_of_two(int exponent) {  // a normal f64
  return std::bit_cast<double>(static_cast<uint64_t>(exponent + kBias) << kMantissa);
}
int exponent_of(double magnitude) { return static_cast<int>(std::bit_cast<uint64_t>(magnitude) >> kMantissa) - kBias; }
int bias_of(const DTypeInfo& format) { return (1 << (format.exponent_bits - 1)) - 1; }

double largest(const DTypeInfo& format) {
  const int top = (1 << format.exponent_bits) - 1 - bias_of(format);  // the exponent of the largest code
  switch (specials(format)) {
    case Specials::ieee:
      return (2 - power_of_two(-format.mantissa_bits)) * power_of_two(top - 1);
    case Specials::one_nan:
      return (2 - power_of_two(1 - format.mantissa_bits)) * power_of_two(top);
    case Specials::none:
      return (2 - power_of_two(-format.mantissa_bits)) * power_of_two(top);
  }
  return 0;
}

}  // namespace

double round_float(const DTypeInfo& format, double value) {
  const double most = largest(format);
  const Specials rest = specials(format);
  if (std::isnan(value)) return rest == Specials::none ? most : kNaN;
  const double magnitude = std::fabs(value);
  double rounded = magnitude;
  if (magnitude < 2 * most) {
    // Adding 2^52 quanta leaves no room for anything below one quantum, so the sum is rounded to it, ties to even.
    const int exponent = std::max(exponent_of(magnitude), 1 - bias_of(format));
    const double shift = power_of_two(exponent - format.mantissa_bits + kMantissa);
    rounded = (magnitude + shift) - shift;
  }
  if (rounded > most) rounded = rest == Specials::ieee ? kInfinity : most;
  return std::copysign(rounded, value);
}

uint64_t encode_float(const DTypeInfo& format, double value) {
  const uint64_t wide = std::bit_cast<uint64_t>(value);
  const int width = format.exponent_bits + format.mantissa_bits;
  const int dropped = kMantissa - format.mantissa_bits;
  // tf32 sits in the upper bits of its 32.
  const int unused = format.bits - 1 - width;
  const uint64_t sign = (wide >> 63) << width;
  const uint64_t top = ((uint64_t{1} << format.exponent_bits) - 1) << format.mantissa_bits;
  uint64_t code;
  if (std::isnan(value)) {
    const uint64_t payload = (wide & kMantissaMask) >> dropped;
    const uint64_t quiet = uint64_t{1} << (format.mantissa_bits - 1);
    code = specials(format) == Specials::one_nan ? top | ((quiet << 1) - 1) : top | (payload != 0 ? payload : quiet);
  } else if (std::isinf(value)) {
    code = top;
  } else {
    const double magnitude = std::fabs(value);
    const int lowest = 1 - bias_of(format);
    if (magnitude < power_of_two(lowest)) {
      code = static_cast<uint64_t>(magnitude * power_of_two(format.mantissa_bits - lowest));
    } else {
      const int exponent = exponent_of(magnitude) + bias_of(format);
      code = (static_cast<uint64_t>(exponent) << format.mantissa_bits) | ((wide & kMantissaMask) >> dropped);
    }
  }
  return (sign | code) << unused;
}

double decode_float(const DTypeInfo& format, uint64_t bits) {
  const int width = format.exponent_bits + format.mantissa_bits;
  bits >>= format.bits - 1 - width;
  const uint64_t sign = (bits >> width) & 1;
  const uint64_t exponent = (bits >> format.mantissa_bits) & ((uint64_t{1} << format.exponent_bits) - 1);
  const uint64_t mantissa = bits & ((uint64_t{1} << format.mantissa_bits) - 1);
  const bool top = exponent == (uint64_t{1} << format.exponent_bits) - 1;
  const Specials rest = specials(format);
  uint64_t wide;
  if (top && rest == Specials::ieee) {
    wide = (uint64_t{0x7ff} << kMantissa) | (mantissa << (kMantissa - format.mantissa_bits));
  } else if (top && rest == Specials::one_nan && mantissa == (uint64_t{1} << format.mantissa_bits) - 1) {
    wide = std::bit_cast<uint64_t>(kNaN);
  } else if (exponent == 0) {
    wide = std::bit_cast<uint64_t>(static_cast<double>(mantissa) *
                                   power_of_two(1 - bias_of(format) - format.mantissa_bits));
  } else {
    wide = (exponent - static_cast<uint64_t>(bias_of(format)) + kBias) << kMantissa;
    wide |= mantissa << (kMantissa - format.mantissa_bits);
  }
  return std::bit_cast<double>(wide | (sign << 63));
}

double round_power(double value) {
  // As PyTorch rounds the bits of the f32: up from 1.5 times a power of two on; below 2^-126 only past 2^-127.
  const uint32_t bits = std::bit_cast<uint32_t>(static_cast<float>(value)) & 0x7fffffff;
  const uint32_t exponent = bits >> 23;
  if (exponent == 0xff) return kNaN;
  const uint32_t fraction = bits & 0x7fffff;
  const bool up = exponent > 0 ? fraction >= 0x400000 : fraction > 0x400000;
  return decode_power(static_cast<uint8_t>(exponent + up));
}

uint8_t encode_power(double value) {
  return std::isnan(value) ? uint8_t{0xff} : static_cast<uint8_t>(exponent_of(value) + 127);
}
double decode_power(uint8_t bits) { return bits == 0xff ? kNaN : power_of_two(bits - 127); }

}  // namespace lumen
