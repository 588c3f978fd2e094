#include "lumen/codegen/scalar.h"

#include <array>
#include <limits>

#include "lumen/base/check.h"
#include "lumen/codegen/scalar_text.h"

namespace lumen {

namespace {

constexpr double kAll = std::numeric_limits<double>::infinity();

// The tests measure these errors (tests/codegen/accuracy_test.cpp); each number is what they found, rounded up.
constexpr std::array kFunctions = {
    ScalarFunction{"exp2", 1, 1.25, 1.25, kAll, kAll, true, "denormal results are rounded, not flushed"},
    ScalarFunction{"log2", 1, 2, 1, kAll, kAll, true, "-inf at 0, NaN below"},
    ScalarFunction{"sin", 1, 0.75, 2.5, kAll, kAll, true, "NaN at infinities"},
    ScalarFunction{"sqrt", 1, 0.5, 0.5, kAll, kAll, true, "NaN below 0, -0 at -0"},
    ScalarFunction{"recip", 1, 0.5, 0.5, kAll, kAll, true, "an infinity with x's sign at 0"},
    ScalarFunction{"floor", 1, 0, 0, kAll, kAll, true, "-0, infinities and NaN stay"},
    ScalarFunction{"tanh", 1, 2.5, 2.75, kAll, kAll, true, "-1 and 1 at the infinities"},
    ScalarFunction{"erf", 1, 1.25, 1.75, kAll, kAll, true, "-1 and 1 at the infinities"},
    ScalarFunction{"atan", 1, 1.75, 2.5, kAll, kAll, true, "-pi/2 and pi/2 at the infinities"},
    ScalarFunction{"add", 2, 0.5, 0.5, kAll, kAll, true, "IEEE"},
    ScalarFunction{"mul", 2, 0.5, 0.5, kAll, kAll, true, "IEEE"},
    ScalarFunction{"div", 2, 0.5, 0.5, kAll, kAll, true, "IEEE"},
    ScalarFunction{"max", 2, 0, 0, kAll, kAll, true, "NaN if either is; b where they are equal"},
    ScalarFunction{"lt", 2, 0, 0, kAll, kAll, true, "0 or 1; 0 beside NaN"},
    ScalarFunction{"eq", 2, 0, 0, kAll, kAll, true, "0 or 1; 0 beside NaN"},
    ScalarFunction{"mod", 2, 0.5, 0.5, kAll, kAll, false, "the sign of b; NaN for b = 0"},
};

constexpr std::array<std::string_view, 12> kIntegerFunctions = {"add", "mul", "div", "mod", "max", "lt",
                                                                "eq",  "and", "or",  "xor", "shl", "shr"};

}  // namespace

std::string scalar_prelude(Syntax syntax) {
  std::string text =
      syntax == Syntax::c ? std::string(scalar_text::kHeadC) + scalar_text::kLanes : scalar_text::kHeadCuda;
  for (const char* piece :
       {scalar_text::kBasic, scalar_text::kExponential, scalar_text::kLogarithm, scalar_text::kSine, scalar_text::kTanh,
        scalar_text::kArcTangent, scalar_text::kErf, scalar_text::kNarrowFloats}) {
    text += piece;
  }
  text += syntax == Syntax::c ? scalar_text::kRoughC : scalar_text::kRoughCuda;
  text += scalar_text::kRough;
  return text + scalar_text::integers() + scalar_text::storage() + scalar_text::sorting();
}

std::span<const std::string_view> scalar_c_flags() {
  static constexpr std::array<std::string_view, 3> kFlags = {"-fno-math-errno", "-fno-trapping-math", "-fopenmp-simd"};
  return kFlags;
}

std::span<const ScalarFunction> scalar_functions() { return kFunctions; }
std::span<const std::string_view> integer_functions() { return kIntegerFunctions; }

bool is_packed(DType dtype) { return info(dtype).bits < 8; }

std::string_view storage_type(DType dtype) {
  if (dtype == f64) return "double";
  if (dtype == f32) return "float";
  const bool is_signed = info(dtype).cls == DTypeClass::signed_int;
  switch (info(dtype).bits) {
    case 64:
      return is_signed ? "int64_t" : "uint64_t";
    case 32:
      return is_signed ? "int32_t" : "uint32_t";
    case 16:
      return is_signed ? "int16_t" : "uint16_t";
    case 8:
      return is_signed ? "int8_t" : "uint8_t";
    default:
      return "uint8_t";
  }
}

std::string_view compute_type(DType dtype) {
  if (is_float(dtype)) return dtype == f64 ? "double" : "float";
  if (is_bool(dtype)) return "uint8_t";
  if (is_unsigned(dtype)) return dtype == u64 ? "uint64_t" : "uint32_t";
  return dtype == i64 ? "int64_t" : "int32_t";
}

std::string_view compute_suffix(DType dtype) {
  if (is_float(dtype)) return dtype == f64 ? "f64" : "f32";
  if (is_bool(dtype)) return "bool";
  if (is_unsigned(dtype)) return dtype == u64 ? "u64" : "u32";
  return dtype == i64 ? "i64" : "i32";
}

std::string load_function(DType dtype) { return "lumen_load_" + std::string(name(dtype)); }
std::string store_function(DType dtype) { return "lumen_store_" + std::string(name(dtype)); }
std::string wrap_function(DType dtype) {
  CHECK(!is_float(dtype), "floats are rounded when they are stored");
  return "lumen_wrap_" + std::string(name(dtype));
}

}  // namespace lumen
