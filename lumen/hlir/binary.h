// Elementwise functions of two operands of the same dtype and shape: nothing is broadcast or promoted here.
// Integers wrap to their dtype; floats are computed in f64 and rounded once.
#pragma once

#include <array>
#include <cmath>
#include <type_traits>

#include "lumen/hlir/lanes.h"
#include "lumen/ir/op.h"

namespace lumen::hlir {

Expected<TensorType> infer_binary(std::string_view op, DTypeClasses admitted, std::span<const TensorType> operands);
// Says so in args.error when an integer is divided by zero.
bool fails_to_divide(std::string_view op, const ApplyArgs& args);

// An op provides kName, kDoc, kOperands and `scalar`, over the types of lanes.h; one that gives bool gives a bool
// tensor.
template <class Op>
struct Binary {
  static constexpr int kArity = 2;
  static constexpr OpFamily kFamily = OpFamily::binary;
  static constexpr bool kDivides = false;  // for integers, a second operand of 0 is an error
  static constexpr auto fields() { return std::tuple{}; }
  static Expected<TensorType> infer(const Op&, std::span<const TensorType> operands) {
    TensorType type = LUMEN_TRY(infer_binary(Op::kName, Op::kOperands, operands));
    if constexpr (std::is_same_v<decltype(Op::scalar(uint64_t{1}, uint64_t{1})), bool>) type.dtype = DType::bool_;
    return type;
  }
  static void apply(const Op&, const ApplyArgs& args) {
    visit_lanes<Op::kOperands>(args.in_dtypes[0], [&]<class T>() {
      if constexpr (Op::kDivides && std::is_integral_v<T>) {
        if (fails_to_divide(Op::kName, args)) return;
      }
      const Lane* const __restrict a = args.in[0];
      const Lane* const __restrict b = args.in[1];
      Lane* const __restrict out = args.out;
      for_each_lane(args.count, [=](int64_t k) {
        const auto result = Op::scalar(lane_value<T>(a[k]), lane_value<T>(b[k]));
        if constexpr (std::is_same_v<decltype(result), const bool>) {
          out[k].i = result ? 1 : 0;
        } else {
          out[k] = lane_of(result);
        }
      });
      settle(args.out_dtype, args.out, args.count);
    });
  }
};

struct Add : Binary<Add> {
  static constexpr std::string_view kName = "Add";
  static constexpr std::string_view kDoc = "a + b; for bools, a or b.";
  static constexpr DTypeClasses kOperands = kAnyDType;
  template <class T>
  static T scalar(T a, T b) {
    return wrapping_add(a, b);
  }
};

struct Mul : Binary<Mul> {
  static constexpr std::string_view kName = "Mul";
  static constexpr std::string_view kDoc = "a * b; for bools, a and b.";
  static constexpr DTypeClasses kOperands = kAnyDType;
  template <class T>
  static T scalar(T a, T b) {
    return wrapping_mul(a, b);
  }
};

struct Div : Binary<Div> {
  static constexpr std::string_view kName = "Div";
  static constexpr std::string_view kDoc =
      "a / b: IEEE division of floats, floor division of integers; an integer divided by 0 is an error when run.";
  static constexpr DTypeClasses kOperands = kNumbers;
  static constexpr bool kDivides = true;
  template <class T>
  static T scalar(T a, T b) {
    if constexpr (std::is_same_v<T, int64_t>) {
      if (b == -1) return wrapping_mul(a, b);
      return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
    }
    return a / b;
  }
};

struct Mod : Binary<Mod> {
  static constexpr std::string_view kName = "Mod";
  static constexpr std::string_view kDoc =
      "The remainder of a / b with the sign of b; an integer modulo 0 is an error when run, a float modulo 0 is NaN.";
  static constexpr DTypeClasses kOperands = kNumbers;
  static constexpr bool kDivides = true;
  template <class T>
  static T scalar(T a, T b) {
    T rest{};
    if constexpr (std::is_floating_point_v<T>) {
      rest = std::fmod(a, b);
    } else if constexpr (std::is_signed_v<T>) {
      rest = b == -1 ? 0 : a % b;
    } else {
      return a % b;
    }
    return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
  }
};

struct Maximum : Binary<Maximum> {
  static constexpr std::string_view kName = "Maximum";
  static constexpr std::string_view kDoc =
      "The larger of a and b; NaN if either is. Which of two zeros is not specified.";
  static constexpr DTypeClasses kOperands = kAnyDType;
  template <class T>
  static T scalar(T a, T b) {
    return is_greater(a, b) ? a : b;
  }
};

struct LessThan : Binary<LessThan> {
  static constexpr std::string_view kName = "LessThan";
  static constexpr std::string_view kDoc = "a < b as a bool; false beside NaN.";
  static constexpr DTypeClasses kOperands = kAnyDType;
  template <class T>
  static bool scalar(T a, T b) {
    return a < b;
  }
};

struct Equal : Binary<Equal> {
  static constexpr std::string_view kName = "Equal";
  static constexpr std::string_view kDoc = "a == b as a bool; NaN equals nothing, -0 equals 0.";
  static constexpr DTypeClasses kOperands = kAnyDType;
  template <class T>
  static bool scalar(T a, T b) {
    return a == b;
  }
};

struct BitAnd : Binary<BitAnd> {
  static constexpr std::string_view kName = "BitAnd";
  static constexpr std::string_view kDoc = "Bitwise and of integers or bools.";
  static constexpr DTypeClasses kOperands = kBits;
  template <class T>
  static T scalar(T a, T b) {
    return a & b;
  }
};

struct BitOr : Binary<BitOr> {
  static constexpr std::string_view kName = "BitOr";
  static constexpr std::string_view kDoc = "Bitwise or of integers or bools.";
  static constexpr DTypeClasses kOperands = kBits;
  template <class T>
  static T scalar(T a, T b) {
    return a | b;
  }
};

struct BitXor : Binary<BitXor> {
  static constexpr std::string_view kName = "BitXor";
  static constexpr std::string_view kDoc = "Bitwise exclusive or of integers or bools.";
  static constexpr DTypeClasses kOperands = kBits;
  template <class T>
  static T scalar(T a, T b) {
    return a ^ b;
  }
};

enum class ShiftDirection : uint8_t { left, right };

struct Shift {
  ShiftDirection direction = ShiftDirection::left;
  static constexpr std::string_view kName = "Shift";
  static constexpr std::string_view kDoc =
      "a shifted by b bits. A negative count, or one of at least the width, shifts everything out: 0, or -1 for a "
      "negative a shifted right.";
  static constexpr int kArity = 2;
  static constexpr OpFamily kFamily = OpFamily::binary;
  static constexpr DTypeClasses kOperands = kIntegers;
  static constexpr auto fields() { return std::tuple{Field{"direction", &Shift::direction}}; }
  static Expected<TensorType> infer(const Shift&, std::span<const TensorType> operands);
  static void apply(const Shift& op, const ApplyArgs& args);
};

}  // namespace lumen::hlir

template <>
struct lumen::EnumNames<lumen::hlir::ShiftDirection> {
  static constexpr std::string_view type = "shift_direction";
  static constexpr std::array values = {std::pair{hlir::ShiftDirection::left, std::string_view("left")},
                                        std::pair{hlir::ShiftDirection::right, std::string_view("right")}};
};
