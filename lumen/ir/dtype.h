// Element types, and the wide lanes in which the reference computes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace lumen {

enum class DType : uint8_t {
  f64,
  f32,
  tf32,
  f16,
  bf16,
  f8e4m3,
  f8e5m2,
  f8ue8m0,
  f6e2m3,
  f6e3m2,
  f4e2m1,
  i64,
  i32,
  i16,
  i8,
  i4,
  u64,
  u32,
  u16,
  u8,
  u4,
  bool_,
};
using enum DType;

enum class DTypeClass : uint8_t { floating, signed_int, unsigned_int, boolean };

struct DTypeInfo {
  DType dtype;
  std::string_view name;  // "f32"; the spelling in text, rules, docs and logs
  DTypeClass cls;
  int bits;           // of storage: tf32 is stored in 32, bool in 8; 4- and 6-bit elements are packed
  int exponent_bits;  // floats only
  int mantissa_bits;  // stored ones
};

const DTypeInfo& info(DType);
std::span<const DTypeInfo> all_dtypes();
std::string_view name(DType);
std::optional<DType> parse_dtype(std::string_view);
inline bool is_float(DType d) { return info(d).cls == DTypeClass::floating; }
inline bool is_bool(DType d) { return d == DType::bool_; }
inline bool is_int(DType d) { return !is_float(d) && !is_bool(d); }
inline bool is_unsigned(DType d) { return info(d).cls == DTypeClass::unsigned_int; }

// Bytes that `count` elements take: element k fills bits [k*bits, (k+1)*bits) of a little-endian bit string.
int64_t storage_bytes(DType, int64_t count);

// A lane holds one element of any dtype exactly: floats as `f`, everything else as `i` (u64 by its bits, bool 0/1).
union Lane {
  double f;
  int64_t i;
};

// The nearest value of the dtype, ties to even; the identity on what is not a float. Overflow goes where PyTorch 2.13
// sends it: to infinity, or to the largest finite value in formats without one (f8e4m3, f6, f4), or to NaN (f8ue8m0).
// f6 and f4 have no NaN and take it to their largest value. f8ue8m0 drops the sign, takes 0 to 2^-127, and ties go up.
double round_to(DType, double);
// The low bits of the value, sign- or zero-extended; bool: value != 0.
int64_t wrap_to(DType, int64_t);

// Between storage and lanes; bytes.size() == storage_bytes(dtype, lanes.size()). Every bit survives unpack and pack,
// NaN payloads included, but for bool, where any byte other than 0 is true. The bits that pad the last byte are 0.
void unpack(DType, std::span<const std::byte> bytes, std::span<Lane> lanes);
void pack(DType, std::span<const Lane> lanes, std::span<std::byte> bytes);

// The fewest digits that read back to `value` of a floating dtype: "0.1", "1e+20", "-0", "inf", "nan".
std::string shortest_digits(DType, double value);

// A constant with its dtype. Equality is by bits: 0.0 != -0.0, and NaN == NaN because `of` makes only one NaN.
struct Scalar {
  DType dtype = DType::bool_;
  Lane value{.i = 0};

  // Floats are rounded, integers wrapped; a double for an integer dtype goes towards zero and saturates (NaN: 0).
  static Scalar of(DType, double);
  static Scalar of(DType, int64_t);
  static Scalar of(DType dtype, int value) { return of(dtype, int64_t{value}); }
  double as_double() const;
  bool operator==(const Scalar& o) const { return dtype == o.dtype && value.i == o.value.i; }
  // "f32(0.5)", "i64(-3)", "bool(true)", "f64(nan)": shortest digits that read back to the same value.
  std::string str() const;
};

}  // namespace lumen
