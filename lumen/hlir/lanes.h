// The C++ type in which the lanes of a dtype are computed: double for floats, int64_t for signed integers, uint64_t
// for unsigned ones and bool. Scalar functions are templates over that type; nothing is written per dtype.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "lumen/base/check.h"
#include "lumen/ir/op.h"

namespace lumen::hlir {

template <class T>
T lane_value(Lane lane) {
  return std::bit_cast<T>(lane);
}
template <class T>
Lane lane_of(T value) {
  return std::bit_cast<Lane>(value);
}

// Calls f.operator()<T>() with the dtype's T. `classes` leaves out what can never be asked for.
template <DTypeClasses classes, class F>
void visit_lanes(DType dtype, F&& f) {
  if (is_float(dtype)) {
    if constexpr (classes.floating) return std::forward<F>(f).template operator()<double>();
  } else if (is_unsigned(dtype) || is_bool(dtype)) {
    if constexpr (classes.integer || classes.boolean) return std::forward<F>(f).template operator()<uint64_t>();
  } else {
    if constexpr (classes.integer) return std::forward<F>(f).template operator()<int64_t>();
  }
  CHECK(false, "infer admitted a dtype that the op has no meaning for");
}

template <class T>
bool is_nan(T value) {
  if constexpr (std::is_floating_point_v<T>) return std::isnan(value);
  return false;
}

// Integers wrap at 64 bits.
template <class T>
T wrapping_add(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) return a + b;
  return static_cast<T>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}
template <class T>
T wrapping_mul(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) return a * b;
  return static_cast<T>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}

// NaN is larger than everything, itself excepted.
template <class T>
bool is_greater(T a, T b) {
  return a > b || (is_nan(a) && !is_nan(b));
}

// f(k) for each k, in blocks of a fixed size, which is what g++ needs at -O2 to use vector instructions.
template <class F>
void for_each_lane(int64_t count, F&& f) {
  constexpr int64_t kBlock = 8;
  int64_t k = 0;
  for (; k + kBlock <= count; k += kBlock) {
    for (int64_t j = 0; j < kBlock; ++j) f(k + j);
  }
  for (; k < count; ++k) f(k);
}

// Makes wide results values of the dtype: rounds floats, wraps integers.
void settle(DType dtype, Lane* lanes, int64_t count);

// The smallest value: -infinity where the dtype has it, false for bool.
Lane lowest(DType dtype);

}  // namespace lumen::hlir
