#include "lumen/codegen/contract_lanes.h"

#include <fmt/format.h>

namespace lumen {

namespace {

// {N}: the kernel, {L}: lanes.
constexpr const char* kLanesText = R"(
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
  typedef float four __attribute__((vector_size(16), aligned(4), may_alias));
  for (int p = 1; p < {L} / {N}_size; ++p) s.v[0] += s.v[p];
  four total = *(const four*)&s.v[0];
  for (int l = 4; l < {N}_size; l += 4) total += *(const four*)((const float*)&s.v[0] + l);
  return (total[0] + total[2]) + (total[1] + total[3]);
}}
)";

// {T}: what lies there; {X}: where x86-64 has the instruction {I} for it, which gives {O}; {A}: on AArch64; {E}: one.
// Widening is written as assembly: gcc 12 makes several instructions of it, or one for each element.
constexpr const char* kWidening = R"(
LUMEN_FN {N}_sums {N}_floats(const {T}* from) {{
  {N}_sums r;
#if {X}
  typedef int32_t ints __attribute__((vector_size({N}_size * 4)));
  typedef {T} codes __attribute__((vector_size({N}_size * sizeof({T})), aligned(1), may_alias));
  for (int p = 0; p < 16 / {N}_size; ++p) {{
    ints wide;
    __asm__("{I} %1, %0" : "=v"(wide) : "m"(*(const codes*)(from + p * {N}_size)));
    r.v[p] = {O};
  }}
#elif defined(__aarch64__)
{A}#else
  for (int l = 0; l < 16; ++l) r.v[l / {N}_size][l % {N}_size] = {E};
#endif
  return r;
}}
)";

// {L} and {H}: the instructions for the lower and the upper half of eight.
constexpr const char* kHalvesOnArm = R"(
  typedef uint16_t codes __attribute__((vector_size(16), aligned(2), may_alias));
  for (int p = 0; p < 4; p += 2) {{
    const codes eight = *(const codes*)(from + p * 4);
    __asm__("{L}" : "=w"(r.v[p]) : "w"(eight));
    __asm__("{H}" : "=w"(r.v[p + 1]) : "w"(eight));
  }}
)";

constexpr const char* kBytesOnArm = R"(
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
)";

std::string widening(const std::string& name, const char* type, const char* where, const char* instruction,
                     const std::string& result, const std::string& on_arm, const char* element) {
  return fmt::format(kWidening, fmt::arg("N", name), fmt::arg("T", type), fmt::arg("X", where),
                     fmt::arg("I", instruction), fmt::arg("O", result), fmt::arg("A", on_arm), fmt::arg("E", element));
}

}  // namespace

std::string lane_words(const std::string& name, int64_t lanes) {
  return fmt::format(kLanesText, fmt::arg("N", name), fmt::arg("L", lanes));
}

std::string widening_words(const std::string& name, DType dtype) {
  const char* const avx2 = "defined(__AVX512F__) || defined(__AVX2__)";
  const auto halves = [](const char* lower, const char* upper) {
    return fmt::format(kHalvesOnArm, fmt::arg("L", lower), fmt::arg("H", upper));
  };
  if (dtype == bf16) {
    return widening(name, "uint16_t", avx2, "vpmovzxwd", fmt::format("({}_part)(wide << 16)", name),
                    halves("shll %0.4s, %1.4h, #16", "shll2 %0.4s, %1.8h, #16"), "lumen_load_bf16(from[l])");
  }
  if (dtype == f16) {
    return widening(name, "uint16_t", "defined(__AVX512F__) || defined(__F16C__) && defined(__AVX2__)", "vcvtph2ps",
                    fmt::format("({}_part)wide", name), halves("fcvtl %0.4s, %1.4h", "fcvtl2 %0.4s, %1.8h"),
                    "lumen_load_f16(from[l])");
  }
  return widening(name, "int8_t", avx2, "vpmovsxbd", fmt::format("__builtin_convertvector(wide, {}_part)", name),
                  fmt::format(kBytesOnArm, fmt::arg("N", name)), "from[l]");
}

}  // namespace lumen
