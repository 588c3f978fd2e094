#include "lumen/codegen/scalar_text.h"

namespace lumen::scalar_text {

const char* const kHeadC = R"(#include <stdint.h>
#define LUMEN_FN static inline __attribute__((always_inline, unused))
#define LUMEN_BIG_FN static __attribute__((noinline, unused))
#define LUMEN_COPY __builtin_memcpy

LUMEN_FN uint32_t lumen_bits_f32(float x) { uint32_t u; __builtin_memcpy(&u, &x, 4); return u; }
LUMEN_FN float lumen_from_bits_f32(uint32_t u) { float x; __builtin_memcpy(&x, &u, 4); return x; }
LUMEN_FN uint64_t lumen_bits_f64(double x) { uint64_t u; __builtin_memcpy(&u, &x, 8); return u; }
LUMEN_FN double lumen_from_bits_f64(uint64_t u) { double x; __builtin_memcpy(&x, &u, 8); return x; }
// a * b + c, fused where that is one instruction; nothing below needs it to be.
#if defined(__FMA__) || defined(__FP_FAST_FMAF) || defined(__ARM_FEATURE_FMA)
LUMEN_FN float lumen_fma_f32(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
LUMEN_FN double lumen_fma_f64(double a, double b, double c) { return __builtin_fma(a, b, c); }
#else
LUMEN_FN float lumen_fma_f32(float a, float b, float c) { return a * b + c; }
LUMEN_FN double lumen_fma_f64(double a, double b, double c) { return a * b + c; }
#endif
// A type whose conversions the compiler makes vector instructions of; on x86-64, gcc 12 does not.
#if defined(__aarch64__) || (defined(__clang__) && defined(__AVX512FP16__))
#define LUMEN_HALF _Float16
#endif
LUMEN_FN float lumen_div_f32(float a, float b) { return a / b; }
LUMEN_FN double lumen_div_f64(double a, double b) { return a / b; }
LUMEN_FN float lumen_sqrt_f32(float x) { return __builtin_sqrtf(x); }
LUMEN_FN double lumen_sqrt_f64(double x) { return __builtin_sqrt(x); }
LUMEN_FN float lumen_floor_f32(float x) { return __builtin_floorf(x); }
LUMEN_FN double lumen_floor_f64(double x) { return __builtin_floor(x); }
LUMEN_FN float lumen_fmod_f32(float a, float b) { return __builtin_fmodf(a, b); }
LUMEN_FN double lumen_fmod_f64(double a, double b) { return __builtin_fmod(a, b); }
)";

// The _rn functions stay correctly rounded under --use_fast_math; NVRTC has no <stdint.h>.
const char* const kHeadCuda = R"(#ifdef __CUDACC_RTC__
typedef signed char int8_t;
typedef short int16_t;
typedef int int32_t;
typedef long long int64_t;
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef unsigned long long uint64_t;
#define __builtin_memcpy memcpy
#else
#include <stdint.h>
#endif
#define LUMEN_FN [[maybe_unused]] static __device__ __forceinline__
#define LUMEN_BIG_FN [[maybe_unused]] static __device__ __noinline__
#define LUMEN_COPY memcpy

// Single instructions for what is a polynomial or several steps else.
#if !defined(LUMEN_EMULATED) && (!defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800)
#define LUMEN_HARDWARE
#endif
#ifndef LUMEN_EMULATED
// Two bytes that convert in hardware.
struct LumenHalf {
  uint16_t code;
  LumenHalf() = default;
  __device__ __forceinline__ explicit LumenHalf(float x) { asm("cvt.rn.f16.f32 %0, %1;" : "=h"(code) : "f"(x)); }
  __device__ __forceinline__ explicit operator float() const {
    float x;
    asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(code));
    return x;
  }
};
#define LUMEN_HALF LumenHalf
#endif
LUMEN_FN uint32_t lumen_bits_f32(float x) { return __float_as_uint(x); }
LUMEN_FN float lumen_from_bits_f32(uint32_t u) { return __uint_as_float(u); }
LUMEN_FN uint64_t lumen_bits_f64(double x) { return (uint64_t)__double_as_longlong(x); }
LUMEN_FN double lumen_from_bits_f64(uint64_t u) { return __longlong_as_double((long long)u); }
LUMEN_FN float lumen_fma_f32(float a, float b, float c) { return __fmaf_rn(a, b, c); }
LUMEN_FN double lumen_fma_f64(double a, double b, double c) { return __fma_rn(a, b, c); }
LUMEN_FN float lumen_div_f32(float a, float b) { return __fdiv_rn(a, b); }
LUMEN_FN double lumen_div_f64(double a, double b) { return __ddiv_rn(a, b); }
LUMEN_FN float lumen_sqrt_f32(float x) { return __fsqrt_rn(x); }
LUMEN_FN double lumen_sqrt_f64(double x) { return __dsqrt_rn(x); }
LUMEN_FN float lumen_floor_f32(float x) { return floorf(x); }
LUMEN_FN double lumen_floor_f64(double x) { return floor(x); }
LUMEN_FN float lumen_fmod_f32(float a, float b) { return fmodf(a, b); }
LUMEN_FN double lumen_fmod_f64(double a, double b) { return fmod(a, b); }
)";

}  // namespace lumen::scalar_text
