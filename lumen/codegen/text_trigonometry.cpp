#include "lumen/codegen/scalar_text.h"

namespace lumen::scalar_text {

const char* const kSine = R"(
// sin x = (-1)^n sin(pi f) where x / pi = n + f. The product with 1/pi is taken in double in three parts: 29, 29 and 53
// bits of 1/pi. The first two products are exact, and adding 1.5 * 2^53 takes their multiples of 2 away. Bits of 1/pi
// that only make multiples of 2 for a large x are left out (Payne and Hanek); so every float is reduced well. The
// polynomial, of degree 11, is in double too.
// Error: 0.75 ulp.
LUMEN_FN float lumen_sin_f32(float x) {
  double a = (double)lumen_abs_f32(x);
  double c1 = 0x1.45f306dp-2, c2 = 0x1.9391054p-31, c3 = 0x1.4fe13abe8fa9ap-60;
  c1 = a < 0x1p50 ? c1 : 0x1.b939105p-27;
  c2 = a < 0x1p50 ? c2 : 0x1.29fc274p-57;
  c3 = a < 0x1p50 ? c3 : 0x1.7d1f534ddc0dbp-85;
  c1 = a < 0x1p76 ? c1 : 0x1.529fc27p-53;
  c2 = a < 0x1p76 ? c2 : 0x1.5f47d4cp-83;
  c3 = a < 0x1p76 ? c3 : 0x1.377036d8a5665p-111;
  c1 = a < 0x1p102 ? c1 : 0x1.d5f47d4p-79;
  c2 = a < 0x1p102 ? c2 : 0x1.a6ee06dp-108;
  c3 = a < 0x1p102 ? c3 : 0x1.6295993c43904p-137;
  double p1 = a * c1;
  double p2 = a * c2;
  p1 -= (p1 + 13510798882111488.0) - 13510798882111488.0;
  p2 -= (p2 + 13510798882111488.0) - 13510798882111488.0;
  double shifted = (p1 + p2) + 6755399441055744.0;
  double f = ((p1 - (shifted - 6755399441055744.0)) + p2) + a * c3;
  double r = f * 3.141592653589793;
  double t = r * r;
  double p = -2.4080190432969635e-08;
  p = lumen_fma_f64(p, t, 2.75364635625748e-06);
  p = lumen_fma_f64(p, t, -0.000198410865614788);
  p = lumen_fma_f64(p, t, 0.008333332768753579);
  p = lumen_fma_f64(p, t, -0.16666666663881236);
  float s = (float)lumen_fma_f64(r * t, p, r);
  uint32_t flip = (uint32_t)lumen_bits_f64(shifted) << 31;
  return lumen_from_bits_f32(lumen_bits_f32(s) ^ flip ^ (lumen_bits_f32(x) & 0x80000000u));
}

LUMEN_FN double lumen_sum_error_f64(double a, double b, double sum) {
  double bb = sum - a;
  return (a - (sum - bb)) + (b - bb);
}

// The high 64 bits of a product.
LUMEN_FN uint64_t lumen_mul_high_u64(uint64_t a, uint64_t b) {
  uint64_t a0 = a & 0xffffffffull, a1 = a >> 32, b0 = b & 0xffffffffull, b1 = b >> 32;
  uint64_t middle = a1 * b0 + (a0 * b0 >> 32);
  uint64_t other = a0 * b1 + (middle & 0xffffffffull);
  return a1 * b1 + (middle >> 32) + (other >> 32);
}

// a - n pi for a large a, as a sum with `low`; `odd` says whether n is. a is m 2^e, and of m 2^e/pi only what is left
// modulo 2 counts: 192 bits of 1/pi, beginning at bit e, are enough (Payne and Hanek).
LUMEN_FN double lumen_rest_of_pi_f64(double a, double* low, uint64_t* odd) {
  static const uint64_t inverse[20] = {
      0x0000000000000000ull, 0x517cc1b727220a94ull, 0xfe13abe8fa9a6ee0ull, 0x6db14acc9e21c820ull,
      0xff28b1d5ef5de2b0ull, 0xdb92371d2126e970ull, 0x0324977504e8c90eull, 0x7f0ef58e5894d39full,
      0x74411afa975da242ull, 0x74ce38135a2fbf20ull, 0x9cc8eb1cc1a99cfaull, 0x4e422fc5defc941dull,
      0x8ffc4bffef02cc07ull, 0xf79788c5ad05368full, 0xb69b3f6793e584dbull, 0xa7a31fb34f2ff516ull,
      0xba93dd63f5f2f8bdull, 0x9e839cfbc5294975ull, 0x35fdafd88fc6ae84ull, 0x2b0198237e3db5d5ull};
  uint64_t bits = lumen_bits_f64(a);
  uint64_t m = (bits & 0xfffffffffffffull) | 0x10000000000000ull;
  int64_t start = (int64_t)(bits >> 52) - 1012;
  start = start < 0 ? 0 : start;
  int64_t word = start >> 6, shift = start & 63;
  uint64_t w0 = inverse[word] << shift | inverse[word + 1] >> 1 >> (63 - shift);
  uint64_t w1 = inverse[word + 1] << shift | inverse[word + 2] >> 1 >> (63 - shift);
  uint64_t w2 = inverse[word + 2] << shift | inverse[word + 3] >> 1 >> (63 - shift);
  uint64_t r1 = m * w1 + lumen_mul_high_u64(m, w2);
  uint64_t r0 = m * w0 + lumen_mul_high_u64(m, w1) + (r1 < m * w1);
  uint64_t high = r0 << 1 | r1 >> 63;
  *odd = (r0 ^ high) >> 63;
  double h = (double)((int64_t)high >> 32) * 4294967296.0;
  double l = (double)(high & 0xffffffffull) + (double)(r1 << 1 >> 11) * 0x1p-53;
  double sum = h + l;
  double rest = (h - sum) + l;
  double r = sum * 0x1.921fb54442d18p-63;
  *low = lumen_fma_f64(sum, 0x1.921fb54442d18p-63, -r) + (sum * 0x1.1a62633145c07p-117 + rest * 0x1.921fb54442d18p-63);
  return r;
}

// r = |x| - n pi with pi in four parts (27, 27, 27 and 53 bits), summed with the errors of the sums (Cody and Waite).
// Products are exact up to |x| = 2e8; beyond 1e8 the integers above do it.
// Error: 2.5 ulp.
LUMEN_FN double lumen_sin_f64(double x) {
  double a = lumen_abs_f64(x);
  double shifted = lumen_fma_f64(a, 0.3183098861837907, 6755399441055744.0);
  double n = shifted - 6755399441055744.0;
  double s0 = lumen_fma_f64(-n, 0x1.921fb54p+1, a);
  double p2 = -n * 0x1.10b461p-29;
  double s1 = s0 + p2;
  double p3 = -n * 0x1.a62633p-57;
  double s2 = s1 + p3;
  double low = lumen_sum_error_f64(s0, p2, s1) + lumen_sum_error_f64(s1, p3, s2);
  low = lumen_fma_f64(-n, 0x1.45c06e0e68948p-85, low);
  double r = s2 + low;
  low = (s2 - r) + low;
  double large_low;
  uint64_t odd;
  double large_r = lumen_rest_of_pi_f64(a, &large_low, &odd);
  int large = (a > 1e8) & (a <= 0x1.fffffffffffffp+1023);
  r = large ? large_r : r;
  low = large ? large_low : low;
  r = lumen_within_f64(r, -1.6, 1.6);
  double t = r * r;
  double p = 1.91013239359893e-20;
  p = lumen_fma_f64(p, t, -8.218172100265424e-18);
  p = lumen_fma_f64(p, t, 2.811450117980201e-15);
  p = lumen_fma_f64(p, t, -7.647163606775822e-13);
  p = lumen_fma_f64(p, t, 1.605904383546503e-10);
  p = lumen_fma_f64(p, t, -2.5052108385432757e-08);
  p = lumen_fma_f64(p, t, 2.755731922398586e-06);
  p = lumen_fma_f64(p, t, -0.0001984126984126984);
  p = lumen_fma_f64(p, t, 0.008333333333333333);
  p = lumen_fma_f64(p, t, -0.16666666666666666);
  double s = r + lumen_fma_f64(r * t, p, low * (1.0 - 0.5 * t));
  s = lumen_within_f64(s, -1.0, 1.0);
  uint64_t flip = (large ? odd : lumen_bits_f64(shifted)) << 63;
  return lumen_from_bits_f64(lumen_bits_f64(s) ^ flip ^ (lumen_bits_f64(x) & 0x8000000000000000ull));
}
)";

const char* const kArcTangent = R"(
// atan z = z + z^3 q(z^2) for z in [0, 1], a Chebyshev fit with q of degree 8; above 1 it is pi/2 - atan(1/z).
// Error: 1.75 ulp.
LUMEN_FN float lumen_atan_f32(float x) {
  float a = lumen_abs_f32(x);
  int32_t above = a > 1.0f;
  float z = lumen_div_f32(above ? 1.0f : a, above ? a : 1.0f);
  float t = z * z;
  float q = -0.00238699722f;
  q = lumen_fma_f32(q, t, 0.0135077713f);
  q = lumen_fma_f32(q, t, -0.0358715393f);
  q = lumen_fma_f32(q, t, 0.0625016913f);
  q = lumen_fma_f32(q, t, -0.0865688026f);
  q = lumen_fma_f32(q, t, 0.110337645f);
  q = lumen_fma_f32(q, t, -0.142785683f);
  q = lumen_fma_f32(q, t, 0.199997395f);
  q = lumen_fma_f32(q, t, -0.333333313f);
  float p = lumen_fma_f32(z * t, q, z);
  return lumen_with_sign_f32(above ? 0x1.921fb6p+0f - (p + 0x1.777a5cp-25f) : p, x);
}

// The same with q of degree 19.
// Error: 2.5 ulp.
LUMEN_FN double lumen_atan_f64(double x) {
  double a = lumen_abs_f64(x);
  int32_t above = a > 1.0;
  double z = lumen_div_f64(above ? 1.0 : a, above ? a : 1.0);
  double t = z * z;
  double q = 1.8061954618610735e-05;
  q = lumen_fma_f64(q, t, -0.00019996189377899997);
  q = lumen_fma_f64(q, t, 0.0010496035084967888);
  q = lumen_fma_f64(q, t, -0.0034958859739161363);
  q = lumen_fma_f64(q, t, 0.008368931178449834);
  q = lumen_fma_f64(q, t, -0.015535152475413724);
  q = lumen_fma_f64(q, t, 0.023696731580048157);
  q = lumen_fma_f64(q, t, -0.03127718906699602);
  q = lumen_fma_f64(q, t, 0.03749486812535225);
  q = lumen_fma_f64(q, t, -0.04260356632601642);
  q = lumen_fma_f64(q, t, 0.04737749579527775);
  q = lumen_fma_f64(q, t, -0.0525797333428411);
  q = lumen_fma_f64(q, t, 0.05881506877793656);
  q = lumen_fma_f64(q, t, -0.06666564699289104);
  q = lumen_fma_f64(q, t, 0.07692298971033217);
  q = lumen_fma_f64(q, t, -0.09090908590891934);
  q = lumen_fma_f64(q, t, 0.11111111093490827);
  q = lumen_fma_f64(q, t, -0.14285714285384132);
  q = lumen_fma_f64(q, t, 0.1999999999999753);
  q = lumen_fma_f64(q, t, -0.3333333333333333);
  double p = lumen_fma_f64(z * t, q, z);
  return lumen_with_sign_f64(above ? 0x1.921fb54442d18p+0 - (p - 0x1.1a62633145c07p-54) : p, x);
}
)";

}  // namespace lumen::scalar_text
