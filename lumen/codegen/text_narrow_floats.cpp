#include "lumen/codegen/scalar_text.h"

namespace lumen::scalar_text {

// No step makes a denormal f32: they are slow on CPUs and may be flushed on GPUs.
const char* const kNarrowFloats = R"(
// The f32 of a code without its sign: m mantissa bits, smallest normal exponent `lowest`. Codes below 2^m count in
// units of 2^(lowest - m): the code becomes the low bits of a number whose last place is that unit.
LUMEN_FN float lumen_decode(uint32_t code, int32_t m, int32_t lowest) {
  float normal = lumen_from_bits_f32((code << (23 - m)) + ((uint32_t)(lowest + 126) << 23));
  float base = lumen_power_f32(lowest - m + 23);
  float small = lumen_from_bits_f32(lumen_bits_f32(base) + code) - base;
  return code < (1u << m) ? small : normal;
}

// The code of the nearest number, ties to even. `largest` is the code of the largest finite number, above it comes
// `overflow`; `nan` has no sign. Small numbers are rounded by adding a number whose last place is their unit.
LUMEN_FN uint32_t lumen_encode(float x, int32_t m, int32_t lowest, uint32_t largest, uint32_t overflow, uint32_t nan,
                               uint32_t sign) {
  uint32_t u = lumen_bits_f32(x) & 0x7fffffffu;
  uint32_t odd = (u >> (23 - m)) & 1u;
  uint32_t normal = ((u + ((1u << (22 - m)) - 1u) + odd) >> (23 - m)) - ((uint32_t)(lowest + 126) << m);
  float base = lumen_power_f32(lowest - m + 23);
  uint32_t small = lumen_bits_f32(lumen_from_bits_f32(u) + base) - lumen_bits_f32(base);
  uint32_t code = u < ((uint32_t)(lowest + 127) << 23) ? small : normal;
  code = code > largest ? overflow : code;
  code |= (lumen_bits_f32(x) >> 31) ? sign : 0u;
  return u > 0x7f800000u ? nan : code;
}

LUMEN_FN float lumen_load_tf32(uint32_t x) { return lumen_from_bits_f32(x & 0xffffe000u); }
LUMEN_FN uint32_t lumen_store_tf32(float x) {
  uint32_t u = lumen_bits_f32(x);
  uint32_t rounded = (u + 0xfffu + ((u >> 13) & 1u)) & 0xffffe000u;
  return x != x ? 0x7fc00000u : rounded;
}
LUMEN_FN float lumen_load_bf16(uint16_t x) { return lumen_from_bits_f32((uint32_t)x << 16); }
#ifdef LUMEN_HARDWARE
LUMEN_FN uint16_t lumen_store_bf16(float x) {
  uint16_t code;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(code) : "f"(x));
  return code;
}
// Two are converted in one step of the arithmetic units, one by another unit that is 8 times slower; only stores are
// found to be pairs by the compiler.
LUMEN_FN float lumen_round_bf16(float x) {
  uint32_t high;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(high) : "f"(x), "f"(0.0f));
  return lumen_from_bits_f32(high);
}
#else
LUMEN_FN uint16_t lumen_store_bf16(float x) {
  uint32_t u = lumen_bits_f32(x);
  uint32_t rounded = (u + 0x7fffu + ((u >> 16) & 1u)) >> 16;
  return (uint16_t)(x != x ? 0x7fc0u : rounded);
}
LUMEN_FN float lumen_round_bf16(float x) { return lumen_load_bf16(lumen_store_bf16(x)); }
#endif
#if defined(LUMEN_HALF)
// In hardware: the same but for NaNs, which keep some of their bits there.
LUMEN_FN float lumen_load_f16(uint16_t x) { LUMEN_HALF h; LUMEN_COPY(&h, &x, 2); return (float)h; }
LUMEN_FN uint16_t lumen_store_f16(float x) {
  LUMEN_HALF h = (LUMEN_HALF)x;
  uint16_t code;
  LUMEN_COPY(&code, &h, 2);
  return x != x ? (uint16_t)0x7e00u : code;
}
#else
LUMEN_FN float lumen_load_f16(uint16_t x) {
  uint32_t code = x & 0x7fffu;
  float a = lumen_decode(code, 10, -14);
  a = code < 0x7c00u ? a : lumen_from_bits_f32(0x7f800000u | (code << 13));
  return lumen_from_bits_f32(lumen_bits_f32(a) | ((uint32_t)(x >> 15) << 31));
}
LUMEN_FN uint16_t lumen_store_f16(float x) {
  return (uint16_t)lumen_encode(x, 10, -14, 0x7bffu, 0x7c00u, 0x7e00u, 0x8000u);
}
#endif
// One at a time, where no loop asks for a vector of them.
#if defined(__F16C__) && defined(__GNUC__)
LUMEN_FN float lumen_load_one_f16(uint16_t x) {
  typedef short halves __attribute__((vector_size(16)));
  const halves codes = {(short)x};
  return __builtin_ia32_vcvtph2ps(codes)[0];
}
#else
LUMEN_FN float lumen_load_one_f16(uint16_t x) { return lumen_load_f16(x); }
#endif
LUMEN_FN float lumen_load_f8e5m2(uint8_t x) { return lumen_load_f16((uint16_t)(x << 8)); }
LUMEN_FN uint8_t lumen_store_f8e5m2(float x) {
  return (uint8_t)lumen_encode(x, 2, -14, 0x7bu, 0x7cu, 0x7eu, 0x80u);
}
// No infinity: overflow stays at 448, and the largest code is NaN.
LUMEN_FN float lumen_load_f8e4m3(uint8_t x) {
  uint32_t code = x & 0x7fu;
  float a = lumen_decode(code, 3, -6);
  a = code == 0x7fu ? lumen_from_bits_f32(0x7fc00000u) : a;
  return lumen_from_bits_f32(lumen_bits_f32(a) | ((uint32_t)(x >> 7) << 31));
}
LUMEN_FN uint8_t lumen_store_f8e4m3(float x) {
  return (uint8_t)lumen_encode(x, 3, -6, 0x7eu, 0x7eu, 0x7fu, 0x80u);
}
// A power of two without a sign, from 2^-127 on; up from 1.5 times a power on, but at 2^-127 only past that.
LUMEN_FN float lumen_load_f8ue8m0(uint8_t x) {
  uint32_t u = x == 0 ? 0x400000u : (uint32_t)x << 23;
  return lumen_from_bits_f32(x == 255 ? 0x7fc00000u : u);
}
LUMEN_FN uint8_t lumen_store_f8ue8m0(float x) {
  uint32_t u = lumen_bits_f32(x) & 0x7fffffffu;
  uint32_t code = (u + (u < 0x800000u ? 0x3fffffu : 0x400000u)) >> 23;
  return (uint8_t)(u >= 0x7f800000u ? 255u : code);
}

// Codes of 6 and 4 bits have neither infinity nor NaN; both go to the largest number, a NaN without its sign.
LUMEN_FN float lumen_decode_f6e2m3(uint32_t code) {
  return lumen_from_bits_f32(lumen_bits_f32(lumen_decode(code & 31u, 3, 0)) | ((code >> 5) << 31));
}
LUMEN_FN uint32_t lumen_encode_f6e2m3(float x) { return lumen_encode(x, 3, 0, 31u, 31u, 31u, 32u); }
LUMEN_FN float lumen_decode_f6e3m2(uint32_t code) {
  return lumen_from_bits_f32(lumen_bits_f32(lumen_decode(code & 31u, 2, -2)) | ((code >> 5) << 31));
}
LUMEN_FN uint32_t lumen_encode_f6e3m2(float x) { return lumen_encode(x, 2, -2, 31u, 31u, 31u, 32u); }
LUMEN_FN float lumen_decode_f4e2m1(uint32_t code) {
  return lumen_from_bits_f32(lumen_bits_f32(lumen_decode(code & 7u, 1, 0)) | ((code >> 3) << 31));
}
LUMEN_FN uint32_t lumen_encode_f4e2m1(float x) { return lumen_encode(x, 1, 0, 7u, 7u, 7u, 8u); }
LUMEN_FN int32_t lumen_decode_i4(uint32_t code) { return (int32_t)(code << 28) >> 28; }
LUMEN_FN uint32_t lumen_encode_i4(int32_t x) { return (uint32_t)x & 15u; }
LUMEN_FN uint32_t lumen_decode_u4(uint32_t code) { return code; }
LUMEN_FN uint32_t lumen_encode_u4(uint32_t x) { return x & 15u; }
)";

}  // namespace lumen::scalar_text
