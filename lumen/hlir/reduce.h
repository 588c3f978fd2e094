// Reductions along one axis, which leaves the shape. Elements are taken in order along the axis, in the widest
// sensible precision, and the result is rounded once.
#pragma once

#include <limits>

#include "lumen/hlir/fold.h"
#include "lumen/hlir/infer.h"
#include "lumen/hlir/lanes.h"
#include "lumen/ir/op.h"

namespace lumen::hlir {

// An op provides kName, kDoc, kOperands and, over the types of lanes.h:
//   start<T>(dtype)                           what `value` starts as; `extra` starts as 0
//   step<T, is_f64>(value, extra, x, at)      takes x, the element at position `at`
//   finish<T>(dtype, value, extra)            the result, before it is rounded or wrapped to the result's dtype
template <class Op>
struct Reduce {
  int64_t axis = 0;
  static constexpr int kArity = 1;
  static constexpr OpFamily kFamily = OpFamily::reduce;
  static constexpr bool kNeedsElements = false;  // an empty axis has no result
  static constexpr bool kGivesIndex = false;     // the result is i64
  static constexpr auto fields() { return std::tuple{Field{"axis", &Op::axis}}; }
  static Expected<TensorType> infer(const Op& op, std::span<const TensorType> operands) {
    LUMEN_TRY(check_dtype(Op::kName, Op::kOperands, operands[0]));
    LUMEN_TRY(check_axis(Op::kName, op.axis, operands[0]));
    if (Op::kNeedsElements) LUMEN_TRY(check_not_empty(Op::kName, op.axis, operands[0]));
    TensorType type = drop_axis(operands[0], op.axis);
    if (Op::kGivesIndex) type.dtype = DType::i64;
    return type;
  }
  static const Fold& fold() { return folding::fold<Op>(); }
};

struct SumReduce : Reduce<SumReduce> {
  static constexpr std::string_view kName = "SumReduce";
  static constexpr std::string_view kDoc =
      "Sum over `axis`; 0 when it is empty. Floats are summed in f64 (f64 itself with compensation); integers wrap.";
  static constexpr DTypeClasses kOperands = kNumbers;
  template <class T>
  static T start(DType) {
    return 0;
  }
  template <class T, bool is_f64>
  static void step(T& value, Lane& extra, T x, int64_t) {
    const T sum = wrapping_add(value, x);
    if constexpr (is_f64) extra.f += std::abs(value) >= std::abs(x) ? (value - sum) + x : (x - sum) + value;
    value = sum;
  }
  template <class T>
  static Lane finish(DType dtype, T value, Lane extra) {
    if constexpr (std::is_floating_point_v<T>) {
      if (dtype == DType::f64 && std::isfinite(value)) value += extra.f;
    }
    return lane_of(value);
  }
};

struct MaxReduce : Reduce<MaxReduce> {
  static constexpr std::string_view kName = "MaxReduce";
  static constexpr std::string_view kDoc =
      "The largest element along `axis`; NaN if there is one; the dtype's lowest value when the axis is empty.";
  static constexpr DTypeClasses kOperands = kAnyDType;
  template <class T>
  static T start(DType dtype) {
    return lane_value<T>(lowest(dtype));
  }
  template <class T, bool is_f64>
  static void step(T& value, Lane&, T x, int64_t) {
    if (is_greater(x, value)) value = x;
  }
  template <class T>
  static Lane finish(DType, T value, Lane) {
    return lane_of(value);
  }
};

struct ProdReduce : Reduce<ProdReduce> {
  static constexpr std::string_view kName = "ProdReduce";
  static constexpr std::string_view kDoc =
      "Product over `axis`; 1 when it is empty. Floats are multiplied in f64; integers wrap.";
  static constexpr DTypeClasses kOperands = kNumbers;
  template <class T>
  static T start(DType) {
    return 1;
  }
  template <class T, bool is_f64>
  static void step(T& value, Lane&, T x, int64_t) {
    value = wrapping_mul(value, x);
  }
  template <class T>
  static Lane finish(DType, T value, Lane) {
    return lane_of(value);
  }
};

struct ArgMax : Reduce<ArgMax> {
  static constexpr std::string_view kName = "ArgMax";
  static constexpr std::string_view kDoc =
      "The position of the largest element along `axis`, as i64: the first of equals, and NaN is the largest. An "
      "empty axis is an error.";
  static constexpr DTypeClasses kOperands = kAnyDType;
  static constexpr bool kNeedsElements = true;
  static constexpr bool kGivesIndex = true;
  template <class T>
  static T start(DType) {
    return 0;
  }
  template <class T, bool is_f64>
  static void step(T& value, Lane& extra, T x, int64_t at) {
    if (at != 0 && !is_greater(x, value)) return;
    value = x;
    extra.i = at;
  }
  template <class T>
  static Lane finish(DType, T, Lane extra) {
    return extra;
  }
};

}  // namespace lumen::hlir
