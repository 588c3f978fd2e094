#include "bench/suite/limit_kernels.h"

namespace lumen::bench {

const char* const kVectorKernels = R"C(
#include <stdint.h>
#include <string.h>
#if defined(__AVX512F__)
#include <immintrin.h>
#define WIDTH 64
#define STREAM(to, from) _mm512_stream_si512((void*)(to), _mm512_loadu_si512(from))
#elif defined(__AVX__)
#include <immintrin.h>
#define WIDTH 32
#define STREAM(to, from) _mm256_stream_si256((void*)(to), _mm256_loadu_si256((const void*)(from)))
#else
#define WIDTH 16
#define STREAM(to, from) memcpy(to, from, WIDTH)
#endif
typedef float vec __attribute__((vector_size(WIDTH)));
typedef vec loose __attribute__((aligned(1), may_alias));

static void copy_loop(char* to, const char* from, int64_t bytes) {
  for (int64_t i = 0; i < bytes; i += 4 * WIDTH) {
    const vec a = *(const loose*)(from + i), b = *(const loose*)(from + i + WIDTH);
    const vec c = *(const loose*)(from + i + 2 * WIDTH), d = *(const loose*)(from + i + 3 * WIDTH);
    *(loose*)(to + i) = a, *(loose*)(to + i + WIDTH) = b;
    *(loose*)(to + i + 2 * WIDTH) = c, *(loose*)(to + i + 3 * WIDTH) = d;
  }
}
static void copy_stream(char* to, const char* from, int64_t bytes) {
  for (int64_t i = 0; i < bytes; i += WIDTH) STREAM(to + i, from + i);
}
void copy(char* to, const char* from, int64_t bytes, int64_t times, int way) {
  for (int64_t t = 0; t < times; ++t) {
    if (way == 0) memcpy(to, from, bytes);
    if (way == 1) copy_loop(to, from, bytes);
    if (way == 2) copy_stream(to, from, bytes);
    __asm__ volatile("" : : "r"(to), "r"(from) : "memory");
  }
}

// Twelve chains hide the latency and fit the registers of every level. What is added to is what a multiply-add of any
// processor overwrites. Gives the lanes of a vector.
int multiply(int64_t times, float* kept) {
  vec sums[12], factor, term;
  for (int k = 0; k < WIDTH / 4; ++k) factor[k] = kept[0], term[k] = kept[1];
  for (int c = 0; c < 12; ++c) sums[c] = term;
  for (int64_t t = 0; t < times; ++t) {
#pragma GCC unroll 12
    for (int c = 0; c < 12; ++c) sums[c] += factor * sums[(c + 1) % 12];
  }
  for (int c = 0; c < 12; ++c) kept[2] += sums[c][0];
  return WIDTH / 4;
}
)C";

const char* const kTileKernel = R"C(
#include <stdint.h>
struct shape { uint8_t palette, start, unused[14]; uint16_t row_bytes[16]; uint8_t rows[16]; };
#define FOUR(op) op " %%tmm5,%%tmm4,%%tmm0\n" op " %%tmm6,%%tmm4,%%tmm1\n" op " %%tmm5,%%tmm7,%%tmm2\n" \
                 op " %%tmm6,%%tmm7,%%tmm3"
void tiles(int64_t times, int i8) {
  struct shape s = {.palette = 1};
  for (int k = 0; k < 8; ++k) s.row_bytes[k] = 64, s.rows[k] = 16;
  __asm__ volatile("ldtilecfg %0" : : "m"(s));
  if (i8) for (int64_t t = 0; t < times; ++t) __asm__ volatile(FOUR("tdpbssd") : :);
  else for (int64_t t = 0; t < times; ++t) __asm__ volatile(FOUR("tdpbf16ps") : :);
  __asm__ volatile("tilerelease" : :);
}
)C";

}  // namespace lumen::bench
