#include "lumen/codegen/scalar_text.h"

namespace lumen::scalar_text {

// gcc calls what `omp declare simd` declares by the name _ZGVeN16v_<function>, defined below. It is a builtin, since
// gcc takes calls of no other functions out of branches, and of one that means the same, since gcc folds it for
// constants.
const char* const kLanes = R"(
#if defined(__AVX512DQ__)
typedef float lumen_v16 __attribute__((vector_size(64), may_alias));
#define LUMEN_EVERY_LANE (uint16_t)-1
LUMEN_FN lumen_v16 lumen_lanes_fma(lumen_v16 a, lumen_v16 b, lumen_v16 c) {
  return __builtin_ia32_vfmaddps512_mask(a, b, c, LUMEN_EVERY_LANE, 4);
}
// What lumen_exp2_f32 is elsewhere: what is left after the nearest integer, the same polynomial, and the integer as
// exponent.
LUMEN_FN lumen_v16 lumen_lanes_exp2(lumen_v16 x) {
  lumen_v16 f, y;
  __asm__("vreduceps $0, %1, %0" : "=v"(f) : "v"(x));
  lumen_v16 p = lumen_lanes_fma((lumen_v16){} + 0.000154531634f, f, (lumen_v16){} + 0.00133908633f);
  p = lumen_lanes_fma(p, f, (lumen_v16){} + 0.00961808302f);
  p = lumen_lanes_fma(p, f, (lumen_v16){} + 0.0555035695f);
  p = lumen_lanes_fma(p, f, (lumen_v16){} + 0.240226507f);
  p = lumen_lanes_fma(p, f, (lumen_v16){} + 0.693147182f);
  p = lumen_lanes_fma(p, f, (lumen_v16){} + 1.0f);
  __asm__("vscalefps %1, %2, %0" : "=v"(y) : "v"(x - f), "v"(p));
  return y;
}
#endif

#if defined(__AVX512DQ__) && !defined(__clang__) && !defined(LUMEN_WITHOUT_LANES)
#define LUMEN_BY_LANES
typedef int32_t lumen_w16 __attribute__((vector_size(64), may_alias));
// A loop over `builtin` calls lumen_lanes_<name> for 16 elements at once, or 8, the lower lanes; one element is a lane,
// too, so that all are the same number.
#define LUMEN_LANES_FN(name, builtin)                                                                         \
  static __attribute__((used, noinline)) lumen_v16 lumen_##name##_16(lumen_v16 x) __asm__("_ZGVeN16v_lumen_" #name); \
  static lumen_v16 lumen_##name##_16(lumen_v16 x) { return lumen_lanes_##name(x); }                           \
  static __attribute__((used, noinline)) float lumen_##name##_1(float x) __asm__("lumen_" #name);             \
  static float lumen_##name##_1(float x) { return lumen_lanes_##name((lumen_v16){x})[0]; }                    \
  __asm__(".set _ZGVeN8v_lumen_" #name ", _ZGVeN16v_lumen_" #name);                                           \
  _Pragma("omp declare simd simdlen(16) notinbranch") _Pragma("omp declare simd simdlen(8) notinbranch")      \
  __attribute__((const, nothrow, leaf, visibility("hidden"))) float builtin(float x) __asm__("lumen_" #name);
LUMEN_LANES_FN(exp2, exp2f)

// In memory, from where they cost no step: gcc would broadcast them from a register.
static const int32_t lumen_sign_bit = INT32_MIN, lumen_other_bits = INT32_MAX;

// One of 16 polynomials of degree 5 in a - pieces[0], by the low bits of `at`: y + t (c1 + c2 t + ...), where y, in
// pieces[1], is the function at a float that makes it nearly a float. In the first piece y is a, for small numbers.
LUMEN_FN lumen_v16 lumen_lanes_piece(const lumen_v16* pieces, lumen_w16 at, lumen_v16 a, uint16_t past_first, lumen_v16 x) {
  const lumen_v16 t = a - __builtin_shuffle(pieces[0], at);
  lumen_v16 q = __builtin_shuffle(pieces[6], at);
  q = lumen_lanes_fma(q, t, __builtin_shuffle(pieces[5], at));
  q = lumen_lanes_fma(q, t, __builtin_shuffle(pieces[4], at));
  q = lumen_lanes_fma(q, t, __builtin_shuffle(pieces[3], at));
  q = lumen_lanes_fma(q, t, __builtin_shuffle(pieces[2], at));
  lumen_v16 y = lumen_lanes_fma(q, t, __builtin_ia32_permvarsf512_mask(pieces[1], at, a, past_first));
  __asm__("vpternlogd $0xf8, %2%{1to16%}, %1, %0" : "+v"(y) : "v"(x), "m"(lumen_sign_bit));
  return y;
}
// |x|, at most `most`; NaN stays.
LUMEN_FN lumen_v16 lumen_lanes_magnitude(lumen_v16 x, float most) {
  lumen_v16 a;
  __asm__("vpandd %2%{1to16%}, %1, %0" : "=v"(a) : "v"(x), "m"(lumen_other_bits));
  return __builtin_ia32_minps512_mask((lumen_v16){} + most, a, a, LUMEN_EVERY_LANE, 4);
}
LUMEN_FN uint16_t lumen_lanes_not_below(lumen_v16 x, float end) {
  return __builtin_ia32_cmpps512_mask(x, (lumen_v16){} + end, 13, LUMEN_EVERY_LANE, 4);
}

// 1 - erf x to 2^-16, as lumen_one_plus_erf_rough says.
LUMEN_FN lumen_v16 lumen_lanes_erfc_rough(lumen_v16 x) {
  lumen_v16 a, f, y;
  __asm__("vpandd %2%{1to16%}, %1, %0" : "=v"(a) : "v"(x), "m"(lumen_other_bits));
  lumen_v16 q = lumen_lanes_fma((lumen_v16){} - 1.78092196e-05f, a, (lumen_v16){} + 0.000446954946f);
  q = lumen_lanes_fma(q, a, (lumen_v16){} - 0.0049846489f);
  q = lumen_lanes_fma(q, a, (lumen_v16){} + 0.0331902355f);
  q = lumen_lanes_fma(q, a, (lumen_v16){} - 0.151325002f);
  q = lumen_lanes_fma(q, a, (lumen_v16){} - 0.917873621f);
  q = lumen_lanes_fma(q, a, (lumen_v16){} - 1.62786686f) * a;
  __asm__("vreduceps $0, %1, %0" : "=v"(f) : "v"(q));
  lumen_v16 p = lumen_lanes_fma((lumen_v16){} + 0.0013277939f, f, (lumen_v16){} + 0.009675758f);
  p = lumen_lanes_fma(p, f, (lumen_v16){} + 0.055507097f);
  p = lumen_lanes_fma(p, f, (lumen_v16){} + 0.24022114f);
  p = lumen_lanes_fma(p, f, (lumen_v16){} + 0.69314694f);
  p = lumen_lanes_fma(p, f, (lumen_v16){} + 1.0000001f);
  __asm__("vscalefps %1, %2, %0" : "=v"(y) : "v"(q - f), "v"(p));
  const uint16_t below_0 = __builtin_ia32_cmpps512_mask(x, (lumen_v16){}, 17, LUMEN_EVERY_LANE, 4);
  return __builtin_ia32_subps512_mask((lumen_v16){} + 2.0f, y, y, below_0, 4);
}
LUMEN_LANES_FN(erfc_rough, erfcf)

// Pieces are 1/4 wide, the first 3/16: adding 1.5 * 2^20 leaves eighths in the low bits of the sum.
static const lumen_v16 lumen_erf_pieces[7] = {
    {0.0f, 0.31256497f, 0.5625105f, 0.81284f, 1.062285f, 1.3118105f, 1.5628476f, 1.8131728f, 2.062561f, 2.3138132f,
     2.5628843f, 2.8121471f, 3.0618744f, 3.3127012f, 3.5610695f, 3.8101804f},
    {0.0f, 0.34153512f, 0.5736831f, 0.7496622f, 0.8669798f, 0.9364295f, 0.97290874f, 0.989659f, 0.9964647f, 0.99893296f,
     0.99971044f, 0.9999302f, 0.9999851f, 0.9999972f, 0.9999995f, 0.99999994f},
    {0.12837917f, 1.023354f, 0.8223117f, 0.58279103f, 0.3650697f, 0.2018835f, 0.09810563f, 0.042137656f, 0.016028676f,
     0.00533776f, 0.0015843302f, 0.00041493497f, 9.5700074e-5f, 1.9342555e-5f, 3.5090754e-6f, 5.651675e-7f},
    {1.1162687e-6f, -0.31985962f, -0.46255356f, -0.4737139f, -0.38780904f, -0.2648352f, -0.15332593f, -0.07640353f,
     -0.033060044f, -0.012350257f, -0.004060185f, -0.0011667068f, -0.00029296143f, -6.405477e-5f, -1.158544e-5f,
     -8.38326e-6f},
    {-0.37617958f, -0.27450696f, -0.1006602f, 0.062435452f, 0.15294665f, 0.16431063f, 0.12704885f, 0.078310095f,
     0.040116876f, 0.017271765f, 0.0064092954f, 0.0020491576f, 0.00056617626f, 0.00013502358f, 2.8135633e-5f,
     2.7974843e-6f},
    {0.00076386245f, 0.1485014f, 0.18144605f, 0.13212499f, 0.0482541f, -0.019013297f, -0.047800865f, -0.045386866f,
     -0.03036859f, -0.01593218f, -0.0069152033f, -0.0025229405f, -0.0007818224f, -0.00020667842f, -0.00010557968f,
     0.0004164531f},
    {0.1091765f, 0.065674186f, -0.009598073f, -0.061259314f, -0.06583769f, -0.038929477f, -0.008228303f, 0.009341865f,
     0.012924178f, 0.0095185675f, 0.005134369f, 0.0022039139f, 0.0007798197f, 0.00023186274f, 8.755983e-5f,
     0.0002333795f},
};
LUMEN_FN lumen_v16 lumen_lanes_erf(lumen_v16 x) {
  const lumen_v16 a = lumen_lanes_magnitude(x, 3.93f);
  const lumen_w16 eighths = (lumen_w16)(a + 1572864.0f);
  return lumen_lanes_piece(lumen_erf_pieces, eighths >> 1, a, lumen_lanes_not_below(a, 0.1875f), x);
}
LUMEN_LANES_FN(erf, erff)

// Pieces are a quarter of a power of 2, which bits of a + 5/8 tell: from 1/8 wide at 0 to 2 at the end.
static const lumen_v16 lumen_tanh_pieces[7] = {
    {1.625279f, 2.1256237f, 2.6259604f, 3.1238737f, 3.8744497f, 4.8757496f, 5.872587f, 6.8725796f, 8.331778f, 0.0f,
     0.18748981f, 0.31242812f, 0.49977016f, 0.75014377f, 0.999629f, 1.250421f},
    {0.9253863f, 0.9719073f, 0.9895797f, 0.99613786f, 0.99913794f, 0.9998836f, 0.99998415f, 0.99999785f, 0.9999999f,
     0.0f, 0.18532336f, 0.30264443f, 0.46193638f, 0.6352347f, 0.7614383f, 0.84840167f},
    {0.14366007f, 0.055396155f, 0.020732068f, 0.0077093705f, 0.0017234264f, 0.00023280947f, 3.171018e-5f, 4.2916313e-6f,
     2.3145184e-7f, -1.8188316e-9f, 0.96565527f, 0.9084064f, 0.78661484f, 0.59647685f, 0.4202117f, 0.2802146f},
    {-0.1329482f, -0.05383903f, -0.020514958f, -0.007679085f, -0.0017198375f, -0.0002324904f, -3.167027e-5f,
     -4.2862657e-6f, -1.9876467e-7f, 4.928503e-7f, -0.17895824f, -0.27492395f, -0.36336142f, -0.37890273f, -0.31996727f,
     -0.23773614f},
    {0.07514818f, 0.033863302f, 0.013390912f, 0.00507995f, 0.0011445893f, 0.00015493421f, 2.1115979e-5f, 2.8579286e-6f,
     1.5437035e-7f, -0.33336097f, -0.28872916f, -0.21961857f, -0.094380386f, 0.0418645f, 0.103562005f, 0.108291626f},
    {-0.024853716f, -0.015011893f, -0.006468685f, -0.0025270237f, -0.00059743074f, -8.119722e-5f, -1.1067816e-5f,
     -1.4981445e-6f, -1.2315527e-7f, 0.0005326602f, 0.1128778f, 0.15779391f, 0.16366474f, 0.09968534f, 0.02820772f,
     -0.012298495f},
    {0.001117926f, 0.0044509773f, 0.0023593502f, 0.0009759132f, 0.00023671506f, 3.2476848e-5f, 4.4031653e-6f,
     5.960732e-7f, 3.4728245e-8f, 0.12976182f, 0.09813562f, 0.04906614f, -0.025099736f, -0.063541226f, -0.046232264f,
     -0.019347804f},
};
LUMEN_FN lumen_v16 lumen_lanes_tanh(lumen_v16 x) {
  const lumen_v16 a = lumen_lanes_magnitude(x, 9.3f);
  const lumen_v16 u = a + 0.625f;
  return lumen_lanes_piece(lumen_tanh_pieces, (lumen_w16)u >> 21, a, lumen_lanes_not_below(u, 0.75f), x);
}
LUMEN_LANES_FN(tanh, tanhf)
#endif
)";

}  // namespace lumen::scalar_text
