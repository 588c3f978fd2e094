#include <fmt/format.h>

#include "lumen/codegen/contract_lanes.h"
#include "lumen/codegen/contract_scaled.h"

namespace lumen {

namespace {

// {N}: the kernel, {B}: elements of a block. Where processors multiply bytes four by four (DOTPROD), each 16 integers
// are 16 low bytes, with a sign, and 16 high ones; elsewhere pairs of products of 16 bits are what they add up in one
// go. Widening is written as assembly: gcc 12 makes several instructions of it, or one for each element.
constexpr const char* kFixedWords = R"(
LUMEN_FN {N}_sums {N}_dots({N}_sums sums, const int8_t* q, const int16_t* x, float scale) {{
#if defined(__aarch64__)
  typedef int8_t bytes __attribute__((vector_size(16), aligned(1), may_alias));
  typedef int32_t ints __attribute__((vector_size(16)));
  ints low = {{0}}, high = {{0}};
  for (int k = 0; k < {B}; k += 16) {{
    const bytes by = *(const bytes*)(q + k);
#if defined(__ARM_FEATURE_DOTPROD)
    __asm__("sdot %0.4s, %1.16b, %2.16b" : "+w"(low) : "w"(by), "w"(*(const bytes*)(x + k)));
    __asm__("sdot %0.4s, %1.16b, %2.16b" : "+w"(high) : "w"(by), "w"(*(const bytes*)(x + k + 8)));
  }}
  const float of_high = scale * 256;
#else
    typedef int16_t shorts __attribute__((vector_size(16), aligned(2), may_alias));
    shorts wide;
    for (int half = 0; half < 16; half += 8) {{
      if (half == 0) __asm__("sxtl %0.8h, %1.8b" : "=w"(wide) : "w"(by));
      if (half == 8) __asm__("sxtl2 %0.8h, %1.16b" : "=w"(wide) : "w"(by));
      const shorts with = *(const shorts*)(x + k + half);
      __asm__("smlal %0.4s, %1.4h, %2.4h" : "+w"(low) : "w"(wide), "w"(with));
      __asm__("smlal2 %0.4s, %1.8h, %2.8h" : "+w"(high) : "w"(wide), "w"(with));
    }}
  }}
  const float of_high = scale;
#endif
  sums.v[0] += scale * __builtin_convertvector(low, {N}_part);
  sums.v[1] += of_high * __builtin_convertvector(high, {N}_part);
#elif defined(__AVX2__)
  typedef int16_t shorts __attribute__((vector_size(32), aligned(2), may_alias));
  typedef int32_t ints __attribute__((vector_size(32)));
  typedef int8_t bytes __attribute__((vector_size(16), aligned(1), may_alias));
  ints sum = {{0}};
  for (int k = 0; k < {B}; k += 16) {{
    shorts wide;
    __asm__("vpmovsxbw %1, %0" : "=x"(wide) : "m"(*(const bytes*)(q + k)));
#if defined(__AVX512VNNI__) && defined(__AVX512VL__)
    __asm__("vpdpwssd %2, %1, %0" : "+x"(sum) : "x"(wide), "m"(*(const shorts*)(x + k)));
#else
    ints pairs;
    __asm__("vpmaddwd %2, %1, %0" : "=x"(pairs) : "x"(wide), "m"(*(const shorts*)(x + k)));
    sum += pairs;
#endif
  }}
  sums.v[0] += scale * __builtin_convertvector(sum, {N}_part);
#else
  int32_t sum[8] = {{0}};
  for (int k = 0; k < {B}; ++k) sum[k / 2 % 8] += q[k] * x[k];
  for (int l = 0; l < 8; ++l) sums.v[l / {N}_size][l % {N}_size] += scale * (float)sum[l];
#endif
  return sums;
}}
static void {N}_fix(const float* from, int16_t* to, float* scale) {{
  uint32_t most = 0;
  for (int k = 0; k < {B}; ++k) {{
    const uint32_t size = lumen_bits_f32(from[k]) & 0x7fffffffu;
    most = size > most ? size : most;
  }}
  const int is_finite = most < 0x7f800000u;
  const uint32_t exponent = most >> 23 > 16 ? most >> 23 : 16;
#if defined(__ARM_FEATURE_DOTPROD)
  enum {{ bits = 13 }};  // so that high bytes are no more than 64
#else
  enum {{ bits = 14 }};
#endif
  const float by = lumen_from_bits_f32((254 - (exponent - bits)) << 23);
  *scale = is_finite ? lumen_from_bits_f32((exponent - bits) << 23) : lumen_from_bits_f32(0x7fc00000u);
  for (int k = 0; k < {B}; ++k) {{
    const float near = from[k] * by + 12582912.0f;
    const int32_t whole = (int32_t)(lumen_bits_f32(near) - 0x4b400000u);
    const int32_t fixed = is_finite ? whole < 32767 ? whole : 32767 : 0;
#if defined(__ARM_FEATURE_DOTPROD)
    const int32_t high = (fixed + 128) >> 8;
    ((int8_t*)to)[k / 16 * 32 + k % 16] = (int8_t)(fixed - high * 256);
    ((int8_t*)to)[k / 16 * 32 + 16 + k % 16] = (int8_t)high;
#else
    to[k] = (int16_t)fixed;
#endif
  }}
}}
)";

constexpr const char* kFloatWords = R"(
LUMEN_FN {N}_sums {N}_dots({N}_sums sums, const int8_t* q, const float* x, float scale) {{
  {N}_sums block = {{0}};
  for (int k = 0; k < {B}; k += 16) block = {N}_add(block, {N}_floats(q + k), {N}_load(x + k));
  for (int p = 0; p < 16 / {N}_size; ++p) sums.v[p] += scale * block.v[p];
  return sums;
}}
)";

}  // namespace

std::string scaled_words(const std::string& name, int64_t block, bool is_fixed) {
  const std::string dots =
      fmt::format(fmt::runtime(is_fixed ? kFixedWords : kFloatWords), fmt::arg("N", name), fmt::arg("B", block));
  return is_fixed ? lane_words(name, 8) + dots : lane_words(name, 16) + widening_words(name, i8) + dots;
}

}  // namespace lumen
