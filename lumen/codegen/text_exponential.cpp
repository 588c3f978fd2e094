#include "lumen/codegen/scalar_text.h"

namespace lumen::scalar_text {

const char* const kExponential = R"(
#ifdef LUMEN_HARDWARE
// Error: 2 ulp.
LUMEN_FN float lumen_exp2_f32(float x) { float y; asm("ex2.approx.f32 %0, %1;" : "=f"(y) : "f"(x)); return y; }
#elif defined(LUMEN_BY_LANES)
LUMEN_FN float lumen_exp2_f32(float x) { return exp2f(x); }
#else
// 2^x = 2^n 2^f with f in [-1/2, 1/2]; 2^f is a polynomial, a Chebyshev fit of degree 6. Adding 1.5 * 2^23 leaves n in
// the low bits of the sum. 2^n is two factors, so that a result below the normal range is rounded only once.
// Error: 1.25 ulp.
LUMEN_FN float lumen_exp2_f32(float x) {
  float c = lumen_within_f32(x, -151.0f, 129.0f);
  float shifted = c + 12582912.0f;
  uint32_t u = lumen_bits_f32(shifted) << 22;
  float f = c - (shifted - 12582912.0f);
  float p = 0.000154531634f;
  p = lumen_fma_f32(p, f, 0.00133908633f);
  p = lumen_fma_f32(p, f, 0.00961808302f);
  p = lumen_fma_f32(p, f, 0.0555035695f);
  p = lumen_fma_f32(p, f, 0.240226507f);
  p = lumen_fma_f32(p, f, 0.693147182f);
  p = lumen_fma_f32(p, f, 1.0f);
  // n / 2 and (n + 1) / 2, each rounded down, where exponents are.
  uint32_t half = (u + 0x3f800000u) & 0xff800000u, rest = (u + 0x3fc00000u) & 0xff800000u;
  return p * lumen_from_bits_f32(half) * lumen_from_bits_f32(rest);
}
#endif

// The same with degree 12.
// Error: 1.25 ulp.
LUMEN_FN double lumen_exp2_f64(double x) {
  double c = lumen_within_f64(x, -1080.0, 1025.0);
  double shifted = c + 6755399441055744.0;
  int32_t n = (int32_t)(uint32_t)lumen_bits_f64(shifted);
  double f = c - (shifted - 6755399441055744.0);
  double p = 2.5729324177362305e-11;
  p = lumen_fma_f64(p, f, 4.4558179083360645e-10);
  p = lumen_fma_f64(p, f, 7.0548973041554995e-09);
  p = lumen_fma_f64(p, f, 1.0178057087733941e-07);
  p = lumen_fma_f64(p, f, 1.3215486808705563e-06);
  p = lumen_fma_f64(p, f, 1.5252733841556773e-05);
  p = lumen_fma_f64(p, f, 0.00015403530393370734);
  p = lumen_fma_f64(p, f, 0.001333355814640647);
  p = lumen_fma_f64(p, f, 0.00961812910762848);
  p = lumen_fma_f64(p, f, 0.055504108664821625);
  p = lumen_fma_f64(p, f, 0.24022650695910072);
  p = lumen_fma_f64(p, f, 0.6931471805599453);
  p = lumen_fma_f64(p, f, 1.0);
  int32_t half = n >> 1;
  return p * lumen_power_f64(half) * lumen_power_f64(n - half);
}
)";

const char* const kLogarithm = R"(
// x = 2^e m with m in [sqrt(1/2), sqrt(2)), and log2(1 + f) = f log2(e) + f^2 q(f), where f = m - 1 and q is a
// Chebyshev fit of degree 9. Numbers below the normal range are scaled by 2^23 first.
// Error: 2 ulp.
LUMEN_FN float lumen_log2_f32(float x) {
  int32_t below = x < 1.17549435e-38f;
  uint32_t u = lumen_bits_f32(below ? x * 8388608.0f : x);
  int32_t e = (int32_t)(u - 0x3f3504f3u) >> 23;
  float f = lumen_from_bits_f32(u - ((uint32_t)e << 23)) - 1.0f;
  float n = (float)(e - (below ? 23 : 0));
  float q = 0.0976563767f;
  q = lumen_fma_f32(q, f, -0.166736424f);
  q = lumen_fma_f32(q, f, 0.170413107f);
  q = lumen_fma_f32(q, f, -0.17919448f);
  q = lumen_fma_f32(q, f, 0.205328941f);
  q = lumen_fma_f32(q, f, -0.240461722f);
  q = lumen_fma_f32(q, f, 0.288559884f);
  q = lumen_fma_f32(q, f, -0.360673904f);
  q = lumen_fma_f32(q, f, 0.480898201f);
  q = lumen_fma_f32(q, f, -0.721347511f);
  float low = lumen_fma_f32(f * f, q, f * 1.92596299e-08f);
  float r = n + lumen_fma_f32(f, 1.44269502f, low);
  r = x < lumen_from_bits_f32(0x7f800000u) ? r : x;
  return x > 0.0f ? r : lumen_from_bits_f32(x == 0.0f ? 0xff800000u : 0x7fc00000u);
}

// log(1 + f) = f - f^2/2 + s (f^2/2 + R(s^2)) with s = f / (2 + f), as in fdlibm; the product with log2(e) is summed
// in two parts, of which `hi` has so few bits that its product is exact.
// Error: 1 ulp.
LUMEN_FN double lumen_log2_f64(double x) {
  int32_t below = x < 2.2250738585072014e-308;
  uint64_t u = lumen_bits_f64(below ? x * 18014398509481984.0 : x);
  int32_t e = (int32_t)(uint32_t)((u - 0x3fe6a09e667f3bcdull) >> 32) >> 20;
  double f = lumen_from_bits_f64(u - ((uint64_t)(uint32_t)e << 52)) - 1.0;
  double n = (double)(e - (below ? 54 : 0));
  double s = lumen_div_f64(f, 2.0 + f);
  double z = s * s;
  double R = 0.1461644968504386;
  R = lumen_fma_f64(R, z, 0.15331721600555998);
  R = lumen_fma_f64(R, z, 0.18182889125261723);
  R = lumen_fma_f64(R, z, 0.2222221113479508);
  R = lumen_fma_f64(R, z, 0.28571428625975487);
  R = lumen_fma_f64(R, z, 0.39999999999899505);
  R = lumen_fma_f64(R, z, 0.666666666666667);
  double half_square = 0.5 * f * f;
  double hi = lumen_from_bits_f64(lumen_bits_f64(f - half_square) & 0xffffffff00000000ull);
  double lo = ((f - hi) - half_square) + s * (half_square + R * z);
  double product = hi * 1.44269504072144627571e+00;
  double rest = (lo + hi) * 1.67517131648865118353e-10 + lo * 1.44269504072144627571e+00;
  double sum = n + product;
  double r = sum + (rest + ((n - sum) + product));
  r = x < lumen_from_bits_f64(0x7ff0000000000000ull) ? r : x;
  return x > 0.0 ? r : lumen_from_bits_f64(x == 0.0 ? 0xfff0000000000000ull : 0x7ff8000000000000ull);
}
)";

}  // namespace lumen::scalar_text
