#include "lumen/codegen/scalar_text.h"

namespace lumen::scalar_text {

const char* const kTanh = R"(
#ifdef LUMEN_BY_LANES
LUMEN_FN float lumen_tanh_f32(float x) { return tanhf(x); }
#else
// tanh a = e / (e + 2) with e = exp(2a) - 1 = 2^n p + (2^n - 1), where 2a = n log 2 + r and p = exp(r) - 1 is a
// polynomial of degree 7 without constant term: nothing cancels near 0, so one formula serves all a >= 0.
// Error: 2.5 ulp.
LUMEN_FN float lumen_tanh_f32(float x) {
  float a = lumen_at_most_f32(lumen_abs_f32(x), 10.0f);
  float y = a + a;
  float shifted = lumen_fma_f32(y, 1.44269502f, 12582912.0f);
  int32_t n = (int32_t)(lumen_bits_f32(shifted) - 0x4b400000u);
  float m = shifted - 12582912.0f;
  float r = lumen_fma_f32(-m, 0x1.62e4p-1f, y);
  r = lumen_fma_f32(-m, 0x1.7f7d1cp-20f, r);
  float q = 0.000198919704f;
  q = lumen_fma_f32(q, r, 0.00139345322f);
  q = lumen_fma_f32(q, r, 0.00833331048f);
  q = lumen_fma_f32(q, r, 0.0416664556f);
  q = lumen_fma_f32(q, r, 0.166666672f);
  q = lumen_fma_f32(q, r, 0.5f);
  float p = lumen_fma_f32(r * r, q, r);
  float s = lumen_power_f32(n);
  float e = lumen_fma_f32(s, p, s - 1.0f);
  return lumen_with_sign_f32(lumen_div_f32(e, e + 2.0f), x);
}
#endif

// The same with degree 13.
// Error: 2.75 ulp.
LUMEN_FN double lumen_tanh_f64(double x) {
  double a = lumen_at_most_f64(lumen_abs_f64(x), 20.0);
  double y = a + a;
  double shifted = lumen_fma_f64(y, 1.4426950408889634, 6755399441055744.0);
  int32_t n = (int32_t)(uint32_t)lumen_bits_f64(shifted);
  double m = shifted - 6755399441055744.0;
  double r = lumen_fma_f64(-m, 0x1.62e42fefa38p-1, y);
  r = lumen_fma_f64(-m, 0x1.ef35793c7673p-45, r);
  double q = 1.6087170907940627e-10;
  q = lumen_fma_f64(q, r, 2.0918952345998524e-09);
  q = lumen_fma_f64(q, r, 2.5052069612234677e-08);
  q = lumen_fma_f64(q, r, 2.7557261055508104e-07);
  q = lumen_fma_f64(q, r, 2.755731924861721e-06);
  q = lumen_fma_f64(q, r, 2.4801587338540415e-05);
  q = lumen_fma_f64(q, r, 0.0001984126984126277);
  q = lumen_fma_f64(q, r, 0.001388888888887828);
  q = lumen_fma_f64(q, r, 0.008333333333333333);
  q = lumen_fma_f64(q, r, 0.04166666666666668);
  q = lumen_fma_f64(q, r, 0.16666666666666666);
  q = lumen_fma_f64(q, r, 0.5);
  double p = lumen_fma_f64(r * r, q, r);
  double s = lumen_power_f64(n);
  double e = lumen_fma_f64(s, p, s - 1.0);
  return lumen_with_sign_f64(lumen_div_f64(e, e + 2.0), x);
}
)";

const char* const kErf = R"(
#ifdef LUMEN_BY_LANES
LUMEN_FN float lumen_erf_f32(float x) { return erff(x); }
#else
// erf a = a + a q(a^2) for 0 <= a < 1, a Chebyshev fit.
LUMEN_FN float lumen_erf_near_f32(float a) {
  float t = a * a, t2 = t * t;
  float q5 = lumen_fma_f32(7.87587487e-05f, t, -0.00080168643f);
  float q3 = lumen_fma_f32(0.00518908724f, t, -0.0268542115f);
  float q = lumen_fma_f32(lumen_fma_f32(q5, t2, q3), t, 0.112835944f);
  q = lumen_fma_f32(lumen_fma_f32(q, t, -0.37612626f), t, 0.128379166f);
  return lumen_fma_f32(a, q, a);
}

#ifdef LUMEN_HARDWARE
// From 1 on: 1 - 2^-(a g(a)) with a polynomial g that grows for ever, and the hardware's power, whose error counts for a
// sixth and less: two thirds of the instructions of a polynomial.
// Error: 1.75 ulp.
LUMEN_FN float lumen_erf_f32(float x) {
  float a = lumen_abs_f32(x);
  float g = 2.0390597e-05f;
  g = lumen_fma_f32(g, a, -0.0005083056f);
  g = lumen_fma_f32(g, a, 0.0054312474f);
  g = lumen_fma_f32(g, a, -0.034661464f);
  g = lumen_fma_f32(g, a, 0.15371785f);
  g = lumen_fma_f32(g, a, 0.9160512f);
  g = lumen_fma_f32(g, a, 1.6283658f);
  float rest, near = lumen_erf_near_f32(a);  // first, or a branch would decide which of the two is computed
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(rest) : "f"(-a * g));
  return lumen_with_sign_f32(a >= 1.0f ? 1.0f - rest : near, x);
}
#else
// From 1 on: a polynomial in a - 2.46, as far as 4, where it is a little more than 1; a Chebyshev fit. Both are summed in
// pairs: one after the other, every sum would wait for the one before.
// Error: 1.25 ulp.
LUMEN_FN float lumen_erf_f32(float x) {
  float a = lumen_abs_f32(x);
  float u = lumen_lower_f32(a, 4.0f) - 2.46000004f;
  float u2 = u * u, u4 = u2 * u2;
  float g13 = lumen_fma_f32(1.09896143e-06f, u, 8.46832506e-08f);
  float g11 = lumen_fma_f32(-1.73642093e-05f, u, 2.47773296e-05f);
  float g9 = lumen_fma_f32(7.59166142e-05f, u, -0.000299808366f);
  float g7 = lumen_fma_f32(0.000355778437f, u, 0.000459579489f);
  float g5 = lumen_fma_f32(-0.00293709128f, u, 0.00679938868f);
  float g3 = lumen_fma_f32(-0.00991420727f, u, 0.00983249769f);
  float g1 = lumen_fma_f32(-0.00653451681f, u, 0.00265623326f);
  g9 = lumen_fma_f32(g11, u2, g9);
  g5 = lumen_fma_f32(g7, u2, g5);
  g1 = lumen_fma_f32(g3, u2, g1);
  g1 = lumen_fma_f32(lumen_fma_f32(lumen_fma_f32(g13, u4, g9), u4, g5), u4, g1);
  float g = lumen_lower_f32(lumen_fma_f32(g1, u, 0.999496639f), 1.0f);
  return lumen_with_sign_f32(a >= 1.0f ? g : lumen_erf_near_f32(a), x);
}
#endif
#endif

// Below 1: a + a q(a^2). From 1 on: 1 - 2^-g, where g = -log2(erfc a) is a polynomial in a - 1 whose error counts for less
// and less; from a = 6 on the result is 1.
// Error: 1.75 ulp.
LUMEN_FN double lumen_erf_f64(double x) {
  double a = lumen_abs_f64(x);
  double t = a * a;
  double q = 5.957176147748883e-11;
  q = lumen_fma_f64(q, t, -1.1372848856791657e-09);
  q = lumen_fma_f64(q, t, 1.4659775274047431e-08);
  q = lumen_fma_f64(q, t, -1.6350312701054695e-07);
  q = lumen_fma_f64(q, t, 1.6461000484121368e-06);
  q = lumen_fma_f64(q, t, -1.4925595266831182e-05);
  q = lumen_fma_f64(q, t, 0.0001205533111164271);
  q = lumen_fma_f64(q, t, -0.000854832698083379);
  q = lumen_fma_f64(q, t, 0.0052239776248180145);
  q = lumen_fma_f64(q, t, -0.026866170645076792);
  q = lumen_fma_f64(q, t, 0.11283791670954879);
  q = lumen_fma_f64(q, t, -0.3761263890318375);
  q = lumen_fma_f64(q, t, 0.1283791670955126);
  double u = lumen_at_most_f64(a, 6.0) - 1.0;
  double g = 7.268550218656629e-18;
  g = lumen_fma_f64(g, u, -4.636750284376329e-16);
  g = lumen_fma_f64(g, u, 1.3981828572828105e-14);
  g = lumen_fma_f64(g, u, -2.6515267485869824e-13);
  g = lumen_fma_f64(g, u, 3.5486893317965274e-12);
  g = lumen_fma_f64(g, u, -3.563943306393274e-11);
  g = lumen_fma_f64(g, u, 2.7853779951805105e-10);
  g = lumen_fma_f64(g, u, -1.7302693515738348e-09);
  g = lumen_fma_f64(g, u, 8.612237886952066e-09);
  g = lumen_fma_f64(g, u, -3.400549450858314e-08);
  g = lumen_fma_f64(g, u, 1.0119577426714521e-07);
  g = lumen_fma_f64(g, u, -1.8156368437123455e-07);
  g = lumen_fma_f64(g, u, -1.5910850997926945e-07);
  g = lumen_fma_f64(g, u, 2.9332295321525838e-06);
  g = lumen_fma_f64(g, u, -1.3842668308572488e-05);
  g = lumen_fma_f64(g, u, 3.917830871060675e-05);
  g = lumen_fma_f64(g, u, -3.791382782139364e-05);
  g = lumen_fma_f64(g, u, -0.000342381055260079);
  g = lumen_fma_f64(g, u, 0.0028535089703840702);
  g = lumen_fma_f64(g, u, -0.014475749800807566);
  g = lumen_fma_f64(g, u, 0.05995998999600775);
  g = lumen_fma_f64(g, u, 1.2163466576891784);
  g = lumen_fma_f64(g, u, 3.8072253458535217);
  g = lumen_fma_f64(g, u, 2.6684166967816);
  double tail = 1.0 - lumen_exp2_f64(-g);
  return lumen_with_sign_f64(a < 1.0 ? lumen_fma_f64(a, q, a) : tail, x);
}
)";

}  // namespace lumen::scalar_text
