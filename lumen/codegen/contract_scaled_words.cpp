#include <fmt/format.h>

#include "lumen/codegen/contract_scaled.h"

namespace lumen {

namespace {

// {N}: the kernel, {B}: elements of a block. Pairs of products of 16 bits are what processors add up in one go.
// Widening is written as assembly: gcc 12 makes several instructions of it, or one for each element.
constexpr const char* kFixedWords = R"(
typedef float {N}_sums __attribute__((vector_size(32), aligned(4)));
typedef int32_t {N}_ints __attribute__((vector_size(32)));
typedef int16_t {N}_shorts __attribute__((vector_size(32), aligned(2), may_alias));
typedef int8_t {N}_bytes __attribute__((vector_size(16), aligned(1), may_alias));
LUMEN_FN {N}_ints {N}_pairs({N}_ints sum, const int8_t* q, const int16_t* x) {{
#if defined(__AVX2__)
  {N}_shorts wide;
  __asm__("vpmovsxbw %1, %0" : "=x"(wide) : "m"(*(const {N}_bytes*)q));
#endif
#if defined(__AVX512VNNI__) && defined(__AVX512VL__)
  __asm__("vpdpwssd %2, %1, %0" : "+x"(sum) : "x"(wide), "m"(*(const {N}_shorts*)x));
#elif defined(__AVX2__)
  {N}_ints pairs;
  __asm__("vpmaddwd %2, %1, %0" : "=x"(pairs) : "x"(wide), "m"(*(const {N}_shorts*)x));
  sum += pairs;
#elif defined(__aarch64__)
  // Which sum has a product does not matter: in the end they are one.
  typedef int8_t eight __attribute__((vector_size(8), aligned(1), may_alias));
  typedef int16_t shorts __attribute__((vector_size(16), aligned(2), may_alias));
  int32_t four __attribute__((vector_size(16))), more __attribute__((vector_size(16)));
  __builtin_memcpy(&four, &sum, 16);
  __builtin_memcpy(&more, (char*)&sum + 16, 16);
  for (int half = 0; half < 16; half += 8) {{
    const shorts wide = __builtin_convertvector(*(const eight*)(q + half), shorts), by = *(const shorts*)(x + half);
    __asm__("smlal %0.4s, %1.4h, %2.4h" : "+w"(four) : "w"(wide), "w"(by));
    __asm__("smlal2 %0.4s, %1.8h, %2.8h" : "+w"(more) : "w"(wide), "w"(by));
  }}
  __builtin_memcpy(&sum, &four, 16);
  __builtin_memcpy((char*)&sum + 16, &more, 16);
#else
  for (int l = 0; l < 8; ++l) sum[l] += q[2 * l] * x[2 * l] + q[2 * l + 1] * x[2 * l + 1];
#endif
  return sum;
}}
LUMEN_FN {N}_sums {N}_dots({N}_sums sums, const int8_t* q, const int16_t* x, float scale) {{
  {N}_ints ints = {{0}};
  for (int k = 0; k < {B}; k += 16) ints = {N}_pairs(ints, q + k, x + k);
  return sums + scale * __builtin_convertvector(ints, {N}_sums);
}}
static void {N}_fix(const float* from, int16_t* to, float* scale) {{
  uint32_t most = 0;
  for (int k = 0; k < {B}; ++k) {{
    const uint32_t size = lumen_bits_f32(from[k]) & 0x7fffffffu;
    most = size > most ? size : most;
  }}
  const int is_finite = most < 0x7f800000u;
  const uint32_t exponent = most >> 23 > 16 ? most >> 23 : 16;
  const float by = lumen_from_bits_f32((254 - (exponent - 14)) << 23);
  *scale = is_finite ? lumen_from_bits_f32((exponent - 14) << 23) : lumen_from_bits_f32(0x7fc00000u);
  for (int k = 0; k < {B}; ++k) {{
    const float near = from[k] * by + 12582912.0f;
    const int32_t whole = (int32_t)(lumen_bits_f32(near) - 0x4b400000u);
    to[k] = (int16_t)(is_finite ? whole < 32767 ? whole : 32767 : 0);
  }}
}}
)";

constexpr const char* kFloatWords = R"(
typedef float {N}_sums __attribute__((vector_size(64), aligned(4), may_alias));
typedef int32_t {N}_ints __attribute__((vector_size(64)));
typedef int8_t {N}_bytes __attribute__((vector_size(16), aligned(1), may_alias));
LUMEN_FN {N}_sums {N}_floats(const int8_t* q) {{
#if defined(__AVX512F__)
  {N}_ints wide;
  __asm__("vpmovsxbd %1, %0" : "=v"(wide) : "m"(*(const {N}_bytes*)q));
  return __builtin_convertvector(wide, {N}_sums);
#else
  {N}_sums floats;
  for (int l = 0; l < 16; ++l) floats[l] = q[l];
  return floats;
#endif
}}
LUMEN_FN {N}_sums {N}_dots({N}_sums sums, const int8_t* q, const float* x, float scale) {{
  {N}_sums block = {N}_floats(q) * *(const {N}_sums*)x;
  for (int k = 16; k < {B}; k += 16) block += {N}_floats(q + k) * *(const {N}_sums*)(x + k);
  return sums + scale * block;
}}
)";

}  // namespace

int64_t scaled_lanes(bool is_fixed) { return is_fixed ? 8 : 16; }

std::string scaled_words(const std::string& name, int64_t block, bool is_fixed) {
  return fmt::format(fmt::runtime(is_fixed ? kFixedWords : kFloatWords), fmt::arg("N", name), fmt::arg("B", block));
}

}  // namespace lumen
