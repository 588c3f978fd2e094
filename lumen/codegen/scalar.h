// The scalar prelude: the types and functions that every generated kernel starts with, as C-family text.
//
// The functions are branch-free polynomials without calls into libm, so that the compiler vectorises loops over them
// (`mod` of floats is the exception). NaN, infinities, signed zeros and denormals are as in the reference (hlir/).
// A function is named lumen_<function>_<suffix>, where the suffix is compute_suffix() of the dtype:
//
//   lumen_store_bf16(lumen_exp2_f32(lumen_load_bf16(x[i])))
//   lumen_store_i4(y, i, lumen_add_i32(lumen_load_i4(a, i), lumen_load_i4(b, i)))
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "lumen/ir/dtype.h"

namespace lumen {

enum class Syntax : uint8_t { c, cuda };

// Functions of values that need 20 bits (rough.h) have a suffix of their own:
//
//   lumen_recip_rough, lumen_div_rough, lumen_sqrt_rough, lumen_tanh_rough, lumen_erf_rough
//
// The whole text. It depends on nothing but the syntax; C needs the flags below.
std::string scalar_prelude(Syntax);

// Without these, gcc keeps calls and branches that only serve errno and the floating-point status word. Contraction
// (-ffp-contract) may be on or off; -ffast-math may not be used. Link with -lm for `mod`.
std::span<const std::string_view> scalar_c_flags();

// Elements of 4 and 6 bits share bytes: their storage is an array of bytes, and they are read and written by index.
bool is_packed(DType);

// The C type of one stored element ("uint16_t" for bf16), and of the bytes of a packed dtype.
std::string_view storage_type(DType);

// The C type in which arithmetic happens: double for f64, float for other floats, uint8_t (0 or 1) for bool, and for
// integers 64 bits for i64 and u64, else 32. After each operation, integers narrower than that must go through
// wrap_function() where the next one could tell, as the reference wraps every result.
std::string_view compute_type(DType);
// "f64", "f32", "i64", "i32", "u64", "u32" or "bool".
std::string_view compute_suffix(DType);

// lumen_load_<dtype>: storage to compute type, exact. lumen_store_<dtype>: to storage, bit for bit what
// pack(round_to(x)) and wrap_to give: nearest, ties to even; a NaN becomes the dtype's positive quiet NaN, where it has
// one (another quiet one for bf16 on a GPU; f32 and f64 store every bit as it is). Packed dtypes:
//   load(const uint8_t* bytes, int64_t index), store(uint8_t* bytes, int64_t index, value)
// A packed store reads and writes the bytes around the element, so elements that share a byte belong to one thread.
std::string load_function(DType);
std::string store_function(DType);
// lumen_wrap_<dtype>: the compute type to itself, as wrap_to; bool: not 0. Integers and bool only.
std::string wrap_function(DType);

// A function on floats, and the largest error that the prelude states for it.
struct ScalarFunction {
  std::string_view name;  // "exp2": lumen_exp2_f32 and lumen_exp2_f64
  int arity;
  double ulp_f32;  // units in the last place of the exact result
  double ulp_f64;
  double limit_f32;  // the error holds for |x| up to this
  double limit_f64;
  bool vectorises;
  std::string_view domain;  // what happens at the ends, in words
};
std::span<const ScalarFunction> scalar_functions();

// Functions on integers, each with suffixes i32, u32, i64 and u64: lumen_<name>_<suffix>. Everything wraps; div and
// mod are floor division and its remainder, and give 0 for a divisor of 0 (which the caller must report); shl and shr
// take (a, count, width of the dtype) and shift everything out for counts outside 0 .. width-1.
std::span<const std::string_view> integer_functions();

}  // namespace lumen
