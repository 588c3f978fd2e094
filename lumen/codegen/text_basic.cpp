#include "lumen/codegen/scalar_text.h"

namespace lumen::scalar_text {

const char* const kBasic = R"(
// In hardware it is a part of the instruction that takes it.
#ifdef LUMEN_HARDWARE
LUMEN_FN float lumen_abs_f32(float x) { return fabsf(x); }
#else
LUMEN_FN float lumen_abs_f32(float x) { return lumen_from_bits_f32(lumen_bits_f32(x) & 0x7fffffffu); }
#endif
LUMEN_FN double lumen_abs_f64(double x) { return lumen_from_bits_f64(lumen_bits_f64(x) & 0x7fffffffffffffffull); }
// The magnitude is not negative.
LUMEN_FN float lumen_with_sign_f32(float magnitude, float sign) {
  return lumen_from_bits_f32(lumen_bits_f32(magnitude) | (lumen_bits_f32(sign) & 0x80000000u));
}
LUMEN_FN double lumen_with_sign_f64(double magnitude, double sign) {
  return lumen_from_bits_f64(lumen_bits_f64(magnitude) | (lumen_bits_f64(sign) & 0x8000000000000000ull));
}
// 2^n for a normal result.
LUMEN_FN float lumen_power_f32(int32_t n) { return lumen_from_bits_f32(((uint32_t)n + 127u) << 23); }
LUMEN_FN double lumen_power_f64(int32_t n) { return lumen_from_bits_f64((uint64_t)((uint32_t)n + 1023u) << 52); }

LUMEN_FN float lumen_add_f32(float a, float b) { return a + b; }
LUMEN_FN double lumen_add_f64(double a, double b) { return a + b; }
LUMEN_FN float lumen_mul_f32(float a, float b) { return a * b; }
LUMEN_FN double lumen_mul_f64(double a, double b) { return a * b; }
LUMEN_FN float lumen_recip_f32(float x) { return lumen_div_f32(1.0f, x); }
LUMEN_FN double lumen_recip_f64(double x) { return lumen_div_f64(1.0, x); }

// The larger; NaN if either is; b where they are equal, so max(0, -0) is -0.
// In hardware max(0, -0) is 0.
#ifdef LUMEN_HARDWARE
LUMEN_FN float lumen_max_f32(float a, float b) {
  float y;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(y) : "f"(a), "f"(b));
  return y;
}
#else
LUMEN_FN float lumen_max_f32(float a, float b) { return ((a > b) | (a != a)) ? a : b; }
#endif
LUMEN_FN double lumen_max_f64(double a, double b) { return ((a > b) | (a != a)) ? a : b; }
// x, or the bound that it is beyond; NaN stays. For AArch64 gcc makes ten instructions of a comparison that is true for
// NaN, and it reverses some that are not. Not for maxima over a loop: gcc 12 fails on those. lumen_lower is at_most where
// anything may come of NaN.
#if defined(__aarch64__) && !defined(LUMEN_HARDWARE)
LUMEN_FN float lumen_at_most_f32(float x, float most) { return x != x ? x : __builtin_fminf(x, most); }
LUMEN_FN double lumen_at_most_f64(double x, double most) { return x != x ? x : __builtin_fmin(x, most); }
LUMEN_FN float lumen_lower_f32(float x, float most) { return __builtin_fminf(x, most); }
LUMEN_FN float lumen_at_least_f32(float x, float least) { return x != x ? x : __builtin_fmaxf(x, least); }
LUMEN_FN float lumen_within_f32(float x, float least, float most) {
  return x != x ? x : __builtin_fmaxf(__builtin_fminf(x, most), least);
}
LUMEN_FN double lumen_within_f64(double x, double least, double most) {
  return x != x ? x : __builtin_fmax(__builtin_fmin(x, most), least);
}
#else
LUMEN_FN float lumen_at_most_f32(float x, float most) { return x > most ? most : x; }
LUMEN_FN double lumen_at_most_f64(double x, double most) { return x > most ? most : x; }
LUMEN_FN float lumen_lower_f32(float x, float most) { return x > most ? most : x; }
LUMEN_FN float lumen_at_least_f32(float x, float least) { return x < least ? least : x; }
LUMEN_FN float lumen_within_f32(float x, float least, float most) {
  float y = x < least ? least : x;
  return y > most ? most : y;
}
LUMEN_FN double lumen_within_f64(double x, double least, double most) {
  double y = x < least ? least : x;
  return y > most ? most : y;
}
#endif
LUMEN_FN uint8_t lumen_lt_f32(float a, float b) { return a < b; }
LUMEN_FN uint8_t lumen_lt_f64(double a, double b) { return a < b; }
LUMEN_FN uint8_t lumen_eq_f32(float a, float b) { return a == b; }
LUMEN_FN uint8_t lumen_eq_f64(double a, double b) { return a == b; }

// The remainder with the sign of b; exact but for the last addition. A call into libm: loops over it stay scalar.
LUMEN_FN float lumen_mod_f32(float a, float b) {
  float rest = lumen_fmod_f32(a, b);
  return ((rest != 0.0f) & ((rest < 0.0f) != (b < 0.0f))) ? rest + b : rest;
}
LUMEN_FN double lumen_mod_f64(double a, double b) {
  double rest = lumen_fmod_f64(a, b);
  return ((rest != 0.0) & ((rest < 0.0) != (b < 0.0))) ? rest + b : rest;
}
)";

}  // namespace lumen::scalar_text
