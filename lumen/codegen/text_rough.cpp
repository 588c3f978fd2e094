#include "lumen/codegen/scalar_text.h"

namespace lumen::scalar_text {

const char* const kRoughC = R"(
#define lumen_recip_rough lumen_recip_f32
#define lumen_div_rough lumen_div_f32
#define lumen_sqrt_rough lumen_sqrt_f32
#define lumen_exp2_rough lumen_exp2_f32
#define lumen_recip_normal lumen_recip_f32
#define lumen_sqrt_normal lumen_sqrt_f32
#define lumen_tanh_rough lumen_tanh_f32
#define lumen_erf_rough lumen_erf_f32
)";

// The approximations of a GPU have errors of up to 2^-22.
const char* const kRoughCuda = R"(
#ifdef LUMEN_HARDWARE
LUMEN_FN float lumen_recip_rough(float x) { float y; asm("rcp.approx.f32 %0, %1;" : "=f"(y) : "f"(x)); return y; }
LUMEN_FN float lumen_sqrt_rough(float x) { float y; asm("sqrt.approx.f32 %0, %1;" : "=f"(y) : "f"(x)); return y; }
LUMEN_FN float lumen_div_rough(float a, float b) {
  float y;
  asm("div.full.f32 %0, %1, %2;" : "=f"(y) : "f"(a), "f"(b));
  return y;
}
// 0 below the normal range; so are recip_normal and sqrt_normal, whose operand is never below it.
LUMEN_FN float lumen_exp2_rough(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
LUMEN_FN float lumen_recip_normal(float x) {
  float y;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
LUMEN_FN float lumen_sqrt_normal(float x) {
  float y;
  asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
#else
LUMEN_FN float lumen_recip_rough(float x) { return lumen_recip_f32(x); }
LUMEN_FN float lumen_sqrt_rough(float x) { return lumen_sqrt_f32(x); }
LUMEN_FN float lumen_div_rough(float a, float b) { return lumen_div_f32(a, b); }
LUMEN_FN float lumen_exp2_rough(float x) {
  float y = lumen_exp2_f32(x);
  return y < 0x1p-126f ? 0.0f : y;
}
LUMEN_FN float lumen_recip_normal(float x) {
  float y = lumen_recip_f32(x);
  return lumen_abs_f32(y) < 0x1p-126f ? 0.0f : y;
}
LUMEN_FN float lumen_sqrt_normal(float x) { return lumen_sqrt_f32(x); }
#endif

// tanh a = 1 - 2 / (exp(2a) + 1); where that cancels, x times a polynomial in x^2.
// Error: 2^-20 of the result.
LUMEN_FN float lumen_tanh_rough(float x) {
  float e = lumen_exp2_rough(lumen_abs_f32(x) * 2.88539004f);
  float large = lumen_fma_f32(-2.0f, lumen_recip_normal(e + 1.0f), 1.0f);
  float t = x * x;
  float q = lumen_fma_f32(lumen_fma_f32(-0.0491592921f, t, 0.133000091f), t, -0.333326697f);
  float small = x * lumen_fma_f32(q, t, 1.0f);
  return t < 0.1225f ? small : lumen_with_sign_f32(large, x);
}

// erf a = 1 - 2^-(a q(a)) with a polynomial q; below 1/2, x times one in x^2.
// Error: 2^-20 of the result.
LUMEN_FN float lumen_erf_rough(float x) {
  float a = lumen_at_most_f32(lumen_abs_f32(x), 4.0f);
  float q = -0.000279002445f;
  q = lumen_fma_f32(q, a, 0.00444902014f);
  q = lumen_fma_f32(q, a, -0.0325676389f);
  q = lumen_fma_f32(q, a, 0.151344895f);
  q = lumen_fma_f32(q, a, 0.917419851f);
  q = lumen_fma_f32(q, a, 1.62804937f);
  float large = 1.0f - lumen_exp2_rough(-a * q);
  float t = x * x;
  float p = -0.0244011953f;
  p = lumen_fma_f32(p, t, 0.112460762f);
  p = lumen_fma_f32(p, t, -0.376107752f);
  p = lumen_fma_f32(p, t, 1.12837899f);
  return t < 0.25f ? x * p : lumen_with_sign_f32(large, x);
}
)";

const char* const kRough = R"(
// Error: 2^-16 of the result.
LUMEN_FN float lumen_one_plus_tanh_rough(float x) {
  return 2.0f * lumen_recip_normal(1.0f + lumen_exp2_rough(x * -2.88539004f));
}

// 1 - erf a = 2^-(a q(a)) with a polynomial q that grows for ever.
// Error: 2^-16 of the result above -5; below, the result goes to 0.
#ifdef LUMEN_BY_LANES
LUMEN_FN float lumen_one_plus_erf_rough(float x) { return erfcf(-x); }
#else
LUMEN_FN float lumen_one_plus_erf_rough(float x) {
  float a = lumen_abs_f32(x);
  float q = 1.78092196e-05f;
  q = lumen_fma_f32(q, a, -0.000446954946f);
  q = lumen_fma_f32(q, a, 0.0049846489f);
  q = lumen_fma_f32(q, a, -0.0331902355f);
  q = lumen_fma_f32(q, a, 0.151325002f);
  q = lumen_fma_f32(q, a, 0.917873621f);
  q = lumen_fma_f32(q, a, 1.62786686f);
  float rest = lumen_exp2_rough(-a * q);
  return x < 0.0f ? rest : 2.0f - rest;
}
#endif
)";

}  // namespace lumen::scalar_text
