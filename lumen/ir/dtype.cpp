#include "lumen/ir/dtype.h"

#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>

#include "lumen/base/check.h"
#include "lumen/ir/float_format.h"

namespace lumen {

namespace {

constexpr DTypeInfo float_row(DType dtype, std::string_view spelling, int bits, int exponent_bits, int mantissa_bits) {
  return {dtype, spelling, DTypeClass::floating, bits, exponent_bits, mantissa_bits};
}
constexpr DTypeInfo int_row(DType dtype, std::string_view spelling, int bits) {
  return {dtype, spelling, spelling[0] == 'i' ? DTypeClass::signed_int : DTypeClass::unsigned_int, bits, 0, 0};
}

// In the order of the enum.
constexpr std::array kTable = {
    float_row(f64, "f64", 64, 11, 52),
    float_row(f32, "f32", 32, 8, 23),
    float_row(tf32, "tf32", 32, 8, 10),
    float_row(f16, "f16", 16, 5, 10),
    float_row(bf16, "bf16", 16, 8, 7),
    float_row(f8e4m3, "f8e4m3", 8, 4, 3),
    float_row(f8e5m2, "f8e5m2", 8, 5, 2),
    float_row(f8ue8m0, "f8ue8m0", 8, 8, 0),
    float_row(f6e2m3, "f6e2m3", 6, 2, 3),
    float_row(f6e3m2, "f6e3m2", 6, 3, 2),
    float_row(f4e2m1, "f4e2m1", 4, 2, 1),
    int_row(i64, "i64", 64),
    int_row(i32, "i32", 32),
    int_row(i16, "i16", 16),
    int_row(i8, "i8", 8),
    int_row(i4, "i4", 4),
    int_row(u64, "u64", 64),
    int_row(u32, "u32", 32),
    int_row(u16, "u16", 16),
    int_row(u8, "u8", 8),
    int_row(u4, "u4", 4),
    DTypeInfo{bool_, "bool", DTypeClass::boolean, 8, 0, 0},
};
static_assert([] {
  for (size_t k = 0; k < kTable.size(); ++k) {
    if (kTable[k].dtype != static_cast<DType>(k)) return false;
  }
  return kTable.size() == static_cast<size_t>(bool_) + 1;
}());

// Towards zero and to the nearest end; NaN is 0.
int64_t saturate_to(DType dtype, double value) {
  if (std::isnan(value)) return 0;
  const int bits = info(dtype).bits;
  const double above = std::ldexp(1.0, is_unsigned(dtype) ? bits : bits - 1);
  const double below = is_unsigned(dtype) ? -1.0 : -above;
  // All ones below the sign: the largest value of the dtype once the unused bits are shifted out.
  if (value >= above) return static_cast<int64_t>(~uint64_t{0} >> (64 - bits + (is_unsigned(dtype) ? 0 : 1)));
  if (value <= below) return is_unsigned(dtype) ? 0 : static_cast<int64_t>(below);
  return is_unsigned(dtype) && value > 0 ? static_cast<int64_t>(static_cast<uint64_t>(value))
                                         : static_cast<int64_t>(value);
}

std::string str_of_double(double value) {
  if (std::isnan(value)) return "nan";
  std::array<char, 32> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
  return std::string(digits.data(), end);
}

}  // namespace

const DTypeInfo& info(DType dtype) { return kTable[static_cast<size_t>(dtype)]; }
std::span<const DTypeInfo> all_dtypes() { return kTable; }
std::string_view name(DType dtype) { return info(dtype).name; }

std::optional<DType> parse_dtype(std::string_view text) {
  for (const DTypeInfo& row : kTable) {
    if (row.name == text) return row.dtype;
  }
  return {};
}

int64_t storage_bytes(DType dtype, int64_t count) {
  CHECK(count >= 0);
  const int64_t bits = info(dtype).bits;
  int64_t bytes = 0;
  // Eight elements take `bits` bytes, so only the rest can end inside a byte.
  CHECK(!__builtin_mul_overflow(count / 8, bits, &bytes) &&
            !__builtin_add_overflow(bytes, (count % 8 * bits + 7) / 8, &bytes),
        "a tensor of more than 2^63 bytes");
  return bytes;
}

double round_to(DType dtype, double value) {
  if (dtype == f32) return static_cast<double>(static_cast<float>(value));
  if (dtype == f64 || !is_float(dtype)) return value;
  return dtype == f8ue8m0 ? round_power(value) : round_float(info(dtype), value);
}

int64_t wrap_to(DType dtype, int64_t value) {
  if (is_bool(dtype)) return value != 0;
  const int unused = 64 - info(dtype).bits;
  const uint64_t top = static_cast<uint64_t>(value) << unused;
  return is_unsigned(dtype) ? static_cast<int64_t>(top >> unused) : static_cast<int64_t>(top) >> unused;
}

std::string shortest_digits(DType dtype, double value) {
  if (dtype == f64 || !std::isfinite(value)) return str_of_double(value);
  for (int precision = 0; precision < std::numeric_limits<double>::max_digits10; ++precision) {
    std::array<char, 48> digits;
    char* const first = digits.data();
    char* const last = std::to_chars(first, first + digits.size(), value, std::chars_format::scientific, precision).ptr;
    double read = 0;
    std::from_chars(first, last, read);
    if (round_to(dtype, read) == value) return str_of_double(read);
  }
  return str_of_double(value);
}

Scalar Scalar::of(DType dtype, double value) {
  if (std::isnan(value)) value = std::numeric_limits<double>::quiet_NaN();
  if (is_float(dtype)) return {dtype, Lane{.f = round_to(dtype, value)}};
  if (is_bool(dtype)) return {dtype, Lane{.i = value != 0}};
  return {dtype, Lane{.i = saturate_to(dtype, value)}};
}

Scalar Scalar::of(DType dtype, int64_t value) {
  if (is_float(dtype)) return of(dtype, static_cast<double>(value));
  return {dtype, Lane{.i = wrap_to(dtype, value)}};
}

double Scalar::as_double() const {
  if (is_float(dtype)) return value.f;
  return is_unsigned(dtype) ? static_cast<double>(static_cast<uint64_t>(value.i)) : static_cast<double>(value.i);
}

std::string Scalar::str() const {
  std::string digits;
  if (is_bool(dtype)) {
    digits = value.i != 0 ? "true" : "false";
  } else if (is_float(dtype)) {
    digits = shortest_digits(dtype, value.f);
  } else {
    digits = is_unsigned(dtype) ? std::to_string(static_cast<uint64_t>(value.i)) : std::to_string(value.i);
  }
  return std::string(name(dtype)) + "(" + digits + ")";
}

}  // namespace lumen
