#include "lumen/codegen/contract_lanes.h"

#include <fmt/format.h>

namespace lumen {

namespace {

// {N}: the kernel, {L}: lanes.
constexpr const char* kLanes = R"(
#if defined(__AVX512F__)
enum {{ {N}_size = {L} < 16 ? {L} : 16 }};
#elif defined(__AVX2__)
enum {{ {N}_size = 8 }};
#else
enum {{ {N}_size = 4 }};
#endif
typedef float {N}_part __attribute__((vector_size({N}_size * 4), aligned(4), may_alias));
typedef struct {{
  {N}_part v[{L} / {N}_size];
}} {N}_sums;
LUMEN_FN {N}_sums {N}_load(const float* x) {{
  {N}_sums r;
  for (int p = 0; p < {L} / {N}_size; ++p) r.v[p] = *(const {N}_part*)(x + p * {N}_size);
  return r;
}}
LUMEN_FN {N}_sums {N}_add({N}_sums s, {N}_sums x, {N}_sums w) {{
  for (int p = 0; p < {L} / {N}_size; ++p) s.v[p] += x.v[p] * w.v[p];
  return s;
}}
LUMEN_FN float {N}_total({N}_sums s) {{
  float total = 0;
  for (int l = 0; l < {L}; ++l) total += s.v[l / {N}_size][l % {N}_size];
  return total;
}}
)";

// Widening is written as assembly: gcc 12 makes several instructions of it, or one for each element.
constexpr const char* kBf16 = R"(
LUMEN_FN {N}_sums {N}_floats(const uint16_t* from) {{
  {N}_sums r;
#if defined(__AVX512F__) || defined(__AVX2__)
  typedef uint32_t ints __attribute__((vector_size({N}_size * 4)));
  typedef uint16_t codes __attribute__((vector_size({N}_size * 2), aligned(2), may_alias));
  for (int p = 0; p < 16 / {N}_size; ++p) {{
    ints wide;
    __asm__("vpmovzxwd %1, %0" : "=v"(wide) : "m"(*(const codes*)(from + p * {N}_size)));
    r.v[p] = ({N}_part)(wide << 16);
  }}
#elif defined(__aarch64__)
  typedef uint16_t codes __attribute__((vector_size(16), aligned(2), may_alias));
  for (int p = 0; p < 4; p += 2) {{
    const codes eight = *(const codes*)(from + p * 4);
    __asm__("shll %0.4s, %1.4h, #16" : "=w"(r.v[p]) : "w"(eight));
    __asm__("shll2 %0.4s, %1.8h, #16" : "=w"(r.v[p + 1]) : "w"(eight));
  }}
#else
  for (int l = 0; l < 16; ++l) r.v[l / {N}_size][l % {N}_size] = lumen_load_bf16(from[l]);
#endif
  return r;
}}
)";

constexpr const char* kF16 = R"(
LUMEN_FN {N}_sums {N}_floats(const uint16_t* from) {{
  {N}_sums r;
#if defined(__AVX512F__) || defined(__F16C__) && defined(__AVX2__)
  typedef uint16_t codes __attribute__((vector_size({N}_size * 2), aligned(2), may_alias));
  for (int p = 0; p < 16 / {N}_size; ++p) {{
    __asm__("vcvtph2ps %1, %0" : "=v"(r.v[p]) : "m"(*(const codes*)(from + p * {N}_size)));
  }}
#elif defined(__aarch64__)
  typedef uint16_t codes __attribute__((vector_size(16), aligned(2), may_alias));
  for (int p = 0; p < 4; p += 2) {{
    const codes eight = *(const codes*)(from + p * 4);
    __asm__("fcvtl %0.4s, %1.4h" : "=w"(r.v[p]) : "w"(eight));
    __asm__("fcvtl2 %0.4s, %1.8h" : "=w"(r.v[p + 1]) : "w"(eight));
  }}
#else
  for (int l = 0; l < 16; ++l) r.v[l / {N}_size][l % {N}_size] = lumen_load_f16(from[l]);
#endif
  return r;
}}
)";

constexpr const char* kI8 = R"(
LUMEN_FN {N}_sums {N}_floats(const int8_t* from) {{
  {N}_sums r;
#if defined(__AVX512F__) || defined(__AVX2__)
  typedef int32_t ints __attribute__((vector_size({N}_size * 4)));
  typedef int8_t codes __attribute__((vector_size({N}_size), aligned(1), may_alias));
  for (int p = 0; p < 16 / {N}_size; ++p) {{
    ints wide;
    __asm__("vpmovsxbd %1, %0" : "=v"(wide) : "m"(*(const codes*)(from + p * {N}_size)));
    r.v[p] = __builtin_convertvector(wide, {N}_part);
  }}
#elif defined(__aarch64__)
  typedef int8_t codes __attribute__((vector_size(16), aligned(1), may_alias));
  typedef int16_t shorts __attribute__((vector_size(16)));
  typedef int32_t ints __attribute__((vector_size(16)));
  const codes all = *(const codes*)from;
  shorts half[2];
  __asm__("sxtl %0.8h, %1.8b" : "=w"(half[0]) : "w"(all));
  __asm__("sxtl2 %0.8h, %1.16b" : "=w"(half[1]) : "w"(all));
  for (int p = 0; p < 4; p += 2) {{
    ints low, high;
    __asm__("sxtl %0.4s, %1.4h" : "=w"(low) : "w"(half[p / 2]));
    __asm__("sxtl2 %0.4s, %1.8h" : "=w"(high) : "w"(half[p / 2]));
    r.v[p] = __builtin_convertvector(low, {N}_part);
    r.v[p + 1] = __builtin_convertvector(high, {N}_part);
  }}
#else
  for (int l = 0; l < 16; ++l) r.v[l / {N}_size][l % {N}_size] = from[l];
#endif
  return r;
}}
)";

}  // namespace

std::string lane_words(const std::string& name, int64_t lanes) {
  return fmt::format(kLanes, fmt::arg("N", name), fmt::arg("L", lanes));
}

std::string widening_words(const std::string& name, DType dtype) {
  const char* const words = dtype == bf16 ? kBf16 : dtype == f16 ? kF16 : kI8;
  return fmt::format(fmt::runtime(words), fmt::arg("N", name));
}

}  // namespace lumen
