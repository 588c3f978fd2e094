// The words that kernels are written in. Loops in C are for vectors; on a GPU their elements go to a block's threads.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "lumen/codegen/cuda_text.h"
#include "lumen/codegen/element_ops.h"
#include "lumen/codegen/kernel_text.h"

namespace lumen {

namespace {

// LUMEN_BEGIN, LUMEN_BEGIN_MANY            before anything is read that another kernel may have written; by one that
//                                          may have very many blocks
// LUMEN_THREADS(n)                         of a block of a GPU: where it is worth knowing
// LUMEN_ROWS(row)                          the rows of this call
// LUMEN_ELEMENTS(i, count)                 independent elements
// LUMEN_RANGE(i, first, end)               the same, from `first` on
// LUMEN_GROUPS(i, width, first, end)       the same in groups: a thread of a GPU takes `width` neighbours, which
// divides
//                                          all; LUMEN_ROW_GROUPS(i, width) where they are the rows. For each group
//   LUMEN_EACH(i, width)                   its elements. What LUMEN_TAKE has read before them is LUMEN_GOT, what
//                                          LUMEN_KEEP puts into LUMEN_HOLD is stored after them by LUMEN_FLUSH; in C,
//                                          LUMEN_GOT reads and LUMEN_KEEP stores. For elements of results there are
//                                          LUMEN_KEEP_RESULT, …: in C, a kernel between LUMEN_STORES (streamed) and its
//                                          end (plain) keeps strips of them, and stores those past the caches
// LUMEN_BLOCK(n)                           elements that are summed before their sum is added to another
// LUMEN_FOLD(i, count, clauses)            elements that are added to what OpenMP's reduction clauses name
// LUMEN_IN_ORDER(i, first, end)            elements that share bytes with their neighbours
// LUMEN_BY_ONE(i, count)                   elements of accumulators that those in order need: one thread has them all
// LUMEN_ORDERED_ROWS(i)                    rows that are elements, and share bytes in groups of 8
// LUMEN_FULL_GROUPS(b, lanes, width, first, end)
//   LUMEN_LANES_OF(l, lanes, width)        elements b + l, each with lane l of an accumulator: whole groups of lanes
// LUMEN_REST(b, l, lanes, first, end)      those that are left over
// LUMEN_FULL_TURNS, LUMEN_GROUP_TURNS      LUMEN_FULL_GROUPS and LUMEN_GROUPS where it is known how many turns the
//                                          threads of a GPU take, so that they hold what they have of a row, all its
//                                          groups: in LUMEN_HOLD_ROW, or LUMEN_TAKE_ROW, which reads it. In C,
//                                          LUMEN_TAKE_TURN is LUMEN_TAKE; on a GPU a turn has nothing to read.
// LUMEN_TAKE_AGAIN                         LUMEN_TAKE of what is near. In streamed kernels in C, LUMEN_TAKE fetches
//                                          what is some strips ahead, LUMEN_FETCH_ROW a group of the next row
// LUMEN_SEE(s, x, l, value)                lane l of the maxima s gets to know a value, by LUMEN_RAISE after the lanes
// at
//                                          the latest: LUMEN_SEEN is room to wait in
// LUMEN_POWER(x, l, value)                 2^value: one of LUMEN_POWERS, where those of all lanes are raised at once,
// by
//                                          LUMEN_ALL_POWERS, after LUMEN_POWER_LANES have put there what they are of
// LUMEN_COMBINE(function, x, lanes)        what the lanes, or a block's threads, come to together
// LUMEN_PARTS(i, first, end)               results that are combined: threads of a GPU take them in turns, and
// LUMEN_TOGETHER(function, x)              is what those of each come to together
// LUMEN_ROW_BUFFER(type, name, count)      room for the elements of a row; LUMEN_SYNC between who writes and who reads
const char* const kC = R"C(
#define LUMEN_RESTRICT restrict
#define LUMEN_UNROLLED
#define LUMEN_CALL const void* const* in, void* const* out, const int64_t* dims, int64_t begin, int64_t end
#define LUMEN_C_KERNEL(name) int64_t name(LUMEN_CALL)
#define LUMEN_NAME(type, name, place) type* restrict name = (type*)(place);
#define LUMEN_PARAMETER(type, name, place) type *restrict const name,
#define LUMEN_ARGUMENT(type, name, place) (type*)(place),
#define LUMEN_NAMES(name)
#define LUMEN_KERNEL(name, ...)                                                                             \
  static __attribute__((noinline)) int64_t name##_rows_of(name##_NAMES(LUMEN_PARAMETER) LUMEN_CALL);        \
  LUMEN_C_KERNEL(name) { return name##_rows_of(name##_NAMES(LUMEN_ARGUMENT) in, out, dims, begin, end); } \
  static int64_t name##_rows_of(name##_NAMES(LUMEN_PARAMETER) LUMEN_CALL)
#define LUMEN_KERNEL_2 LUMEN_KERNEL
#define LUMEN_KERNEL_3 LUMEN_KERNEL
#define LUMEN_KERNEL_4 LUMEN_KERNEL
#define LUMEN_KERNEL_6 LUMEN_KERNEL
#define LUMEN_KERNEL_8 LUMEN_KERNEL
#define LUMEN_KERNEL_12 LUMEN_KERNEL
#define LUMEN_KERNEL_16 LUMEN_KERNEL
#define LUMEN_IN(k) in[k]
#define LUMEN_OUT(k) out[k]
#define LUMEN_DIM(k) dims[k]
#define LUMEN_BEGIN
#define LUMEN_BEGIN_MANY
#define LUMEN_THREADS(n)
#define LUMEN_BLOCK(n) (n)
#if defined(__clang__)
#define LUMEN_VECTOR _Pragma("clang loop vectorize(assume_safety)")
#else
#define LUMEN_VECTOR _Pragma("GCC ivdep")
#endif
// Several vectors at a time, where registers are many and short: the steps of one wait for each other.
#if defined(__aarch64__) && !defined(__clang__)
#define LUMEN_VECTORS LUMEN_VECTOR _Pragma("GCC unroll 2")
#else
#define LUMEN_VECTORS LUMEN_VECTOR
#endif
// A function whose copies are short: gcc would make string instructions of them, which take their time to begin.
#if defined(__clang__)
#define LUMEN_SHORT __attribute__((noinline))
#else
#define LUMEN_SHORT __attribute__((noinline, optimize("no-tree-loop-distribute-patterns")))
#endif
#define LUMEN_ROWS(row) for (int64_t row = begin; row < end; ++row)
#define LUMEN_ELEMENTS(i, count) LUMEN_VECTORS for (int64_t i = 0; i < (count); ++i)
#define LUMEN_PRAGMA(text) _Pragma(#text)
#define LUMEN_FOLD(i, count, clauses) LUMEN_PRAGMA(omp simd clauses) for (int64_t i = 0; i < (count); ++i)
#define LUMEN_ELEMENT_ROWS(i) LUMEN_VECTORS for (int64_t i = begin; i < end; ++i)
#define LUMEN_ORDERED_ROWS(i) for (int64_t i = begin; i < end; ++i)
#define LUMEN_RANGE(i, first, last) LUMEN_VECTORS for (int64_t i = (first); i < (last); ++i)
#define LUMEN_IN_ORDER(i, first, last) for (int64_t i = (first); i < (last); ++i)
#define LUMEN_BY_ONE(i, count) LUMEN_ELEMENTS(i, count)
#define LUMEN_REST(b, l, lanes, first, last)                                                                   \
  for (int64_t b = (last) - ((last) - (first)) % LUMEN_FEW(lanes), l##_count = (last) - b; l##_count > 0; l##_count = 0) \
    LUMEN_VECTOR for (int64_t l = 0; l < l##_count; ++l)
#define LUMEN_STORES plain
#define LUMEN_PASTE(word, stores) word##_##stores
#define LUMEN_WORD(word, stores) LUMEN_PASTE(word, stores)
#define LUMEN_GROUPS LUMEN_WORD(LUMEN_GROUPS, LUMEN_STORES)
#define LUMEN_GROUPS_plain(i, width, first, last) LUMEN_RANGE(i, first, last)
#define LUMEN_GROUPS_streamed(i, width, first, last)                                                               \
  for (int64_t i##_group = (first), i##_last = (last), i##_group_count;                                            \
       i##_group < i##_last && (i##_group_count = lumen_min_i64(LUMEN_STRIP, i##_last - i##_group), 1); \
       i##_group += LUMEN_STRIP)
#define LUMEN_ROW_GROUPS(i, width) LUMEN_WORD(LUMEN_ROW_GROUPS, LUMEN_STORES)(i, width)
#define LUMEN_ROW_GROUPS_plain(i, width) LUMEN_ELEMENT_ROWS(i)
#define LUMEN_ROW_GROUPS_streamed(i, width) LUMEN_GROUPS_streamed(i, width, begin, end)
#define LUMEN_EACH(i, width) LUMEN_WORD(LUMEN_EACH, LUMEN_STORES)(i)
#define LUMEN_EACH_plain(i)
#define LUMEN_EACH_streamed(i) LUMEN_VECTOR for (int64_t i = i##_group; i < i##_group + i##_group_count; ++i)
#define LUMEN_HOLD_RESULT LUMEN_WORD(LUMEN_HOLD_RESULT, LUMEN_STORES)
#define LUMEN_HOLD_RESULT_plain(type, name, width)
#define LUMEN_HOLD_RESULT_streamed(type, name, width) type name[LUMEN_STRIP] __attribute__((aligned(64)))
#define LUMEN_KEEP_RESULT LUMEN_WORD(LUMEN_KEEP_RESULT, LUMEN_STORES)
#define LUMEN_KEEP_RESULT_plain(name, place, element, value) element = value
#define LUMEN_KEEP_RESULT_streamed(name, place, element, value) name[place] = value
#define LUMEN_FLUSH_RESULT LUMEN_WORD(LUMEN_FLUSH_RESULT, LUMEN_STORES)
#define LUMEN_FLUSH_RESULT_plain(name, width, to, first, group, index)
#define LUMEN_FLUSH_RESULT_streamed(name, width, to, first, group, index)      \
  {                                                                            \
    const int64_t first = group;                                               \
    lumen_stream(to + (index), name, group##_count * (int64_t)sizeof name[0]); \
  }
#define LUMEN_HOLD(type, name, width)
#define LUMEN_TAKE LUMEN_WORD(LUMEN_TAKE, LUMEN_STORES)
#define LUMEN_TAKE_plain(type, name, width, from, first, group, index)
#define LUMEN_TAKE_streamed(type, name, width, from, first, group, index) \
  {                                                                       \
    const int64_t first = group + LUMEN_STRIPS_AHEAD * LUMEN_STRIP;       \
    LUMEN_FETCH(type, from + (index), group##_count, 3);                  \
  }
#define LUMEN_FETCH(type, place, count, near)                                                                     \
  const char* const next = (const char*)(place);                                                                  \
  for (int64_t b = 0; b < (count) * (int64_t)sizeof(type); b += 64) __builtin_prefetch(next + b, 0, near)
#define LUMEN_TAKE_AGAIN(type, name, width, from, first, group, index)
#define LUMEN_FETCH_ROW LUMEN_WORD(LUMEN_FETCH_ROW, LUMEN_STORES)
#define LUMEN_FETCH_ROW_plain(type, from, first, group, index)
#define LUMEN_FETCH_ROW_streamed(type, from, first, group, index) \
  {                                                               \
    const int64_t first = group;                                  \
    LUMEN_FETCH(type, from + (index), group##_count, 2);          \
  }
#define LUMEN_GOT(name, place, element) element
#define LUMEN_KEEP(name, place, element, value) element = value
#define LUMEN_FLUSH(name, width, to, first, group, index)
#define LUMEN_FULL(b, l, lanes, first, last) LUMEN_FULL_GROUPS(b, lanes, 1, first, last) LUMEN_LANES_OF(l, lanes, 1)
#define LUMEN_FULL_GROUPS(b, lanes, width, first, last) \
  for (int64_t b = (first), b##_count = LUMEN_FEW(lanes); b + b##_count <= (last); b += b##_count)
#define LUMEN_FULL_TURNS(b, lanes, width, turns, threads, first, last) LUMEN_FULL_GROUPS(b, lanes, width, first, last)
#define LUMEN_GROUP_TURNS(i, width, turns, threads, first, last) LUMEN_GROUPS(i, width, first, last)
#define LUMEN_TAKE_ROW(type, name, width, turns, threads, from, first, begin, end, index)
#define LUMEN_HOLD_ROW(type, name, width, turns)
#define LUMEN_TAKE_TURN(type, name, width, from, first, group, index) \
  LUMEN_TAKE(type, name, width, from, first, group, index)
#define LUMEN_LANES_OF(l, lanes, width) LUMEN_VECTOR for (int64_t l = 0; l < LUMEN_FEW(lanes); ++l)
#define LUMEN_COMBINE(function, x, lanes, width) lumen_lanes_##function(x, LUMEN_FEW(lanes))
#define LUMEN_LANES(lanes, width) LUMEN_FEW(lanes)
// Four vectors of accumulators leave registers to what is computed between. The instruction for the larger number that
// NaN passes through is one that gcc has no words for.
#if defined(__aarch64__)
#define LUMEN_FEW(lanes) ((lanes) < 16 ? (lanes) : 16)
#define LUMEN_SEEN(x, lanes, width) float x[LUMEN_FEW(lanes)] __attribute__((aligned(16)))
#define LUMEN_SEE(s, x, l, value) x[l] = value
#define LUMEN_RAISE(s, x, lanes, width) lumen_raise(s, x, LUMEN_FEW(lanes))
typedef float lumen_v4 __attribute__((vector_size(16), may_alias, aligned(4)));
LUMEN_FN void lumen_raise(float* s, const float* x, int lanes) {
  int l = 0;
  for (; l + 4 <= lanes; l += 4) {
    __asm__("fmax %0.4s, %0.4s, %1.4s" : "+w"(*(lumen_v4*)(s + l)) : "w"(*(const lumen_v4*)(x + l)));
  }
  for (; l < lanes; ++l) s[l] = lumen_max_f32(s[l], x[l]);
}
#else
#define LUMEN_FEW(lanes) (lanes)
#endif
#if defined(__AVX512DQ__)
#define LUMEN_POWERS(x, lanes, width) float x[lanes] __attribute__((aligned(64)))
#define LUMEN_POWER_LANES(l, lanes, width) LUMEN_LANES_OF(l, lanes, width)
#define LUMEN_PUT_POWER(x, l, value) x[l] = value
#define LUMEN_ALL_POWERS(x, lanes, width) lumen_lanes_powers(x, lanes)
#define LUMEN_POWER(x, l, value) x[l]
typedef lumen_v16 lumen_loose_v16 __attribute__((aligned(4), may_alias));
LUMEN_FN void lumen_lanes_powers(float* x, int lanes) {
  int l = 0;
  for (; l + 16 <= lanes; l += 16) *(lumen_loose_v16*)(x + l) = lumen_lanes_exp2(*(lumen_loose_v16*)(x + l));
  for (; l < lanes; ++l) x[l] = lumen_exp2_f32(x[l]);
}
#endif
#define LUMEN_PARTS(i, first, last) for (int64_t i = (first); i < (last); ++i)
#define LUMEN_TOGETHER(function, x) (x)
#define LUMEN_ROW_BUFFER(type, name, count) type name[count]
#define LUMEN_SYNC
#define LUMEN_ONCE
#define LUMEN_RETURN LUMEN_WORD(LUMEN_END, LUMEN_STORES); return fault == 0 ? 0 : 1 + __builtin_ctzll((unsigned long long)fault)
#define LUMEN_END_plain
#define LUMEN_END_streamed lumen_end_stream()
)C";

// Numbers of f16 as bf16, which is what weights are packed as: gcc 12 makes no vectors of conversions of f16, and does
// it by integers, six times as slow.
const char* const kHalves = R"C(
#if defined(__AVX512F__) && defined(__AVX512BF16__)
typedef uint16_t lumen_halves __attribute__((vector_size(32), aligned(1), may_alias));
typedef uint16_t lumen_rounded __attribute__((vector_size(64), aligned(1), may_alias));
typedef float lumen_widened __attribute__((vector_size(64)));
static inline lumen_widened lumen_widen_halves(const uint16_t* from) {
  lumen_widened x;
  __asm__("vcvtph2ps %1, %0" : "=v"(x) : "v"(*(const lumen_halves*)from));
  return x;
}
static inline void lumen_bf16_of_f16(uint16_t* LUMEN_RESTRICT to, const uint16_t* LUMEN_RESTRICT from, int64_t count) {
  int64_t j = 0;
  for (; j + 32 <= count; j += 32) {
    lumen_rounded x;
    __asm__("vcvtne2ps2bf16 %2, %1, %0" : "=v"(x) : "v"(lumen_widen_halves(from + j + 16)), "v"(lumen_widen_halves(from + j)));
    *(lumen_rounded*)(to + j) = x;
  }
  for (; j < count; ++j) to[j] = lumen_store_bf16(lumen_load_f16(from[j]));
}
#else
static inline void lumen_bf16_of_f16(uint16_t* LUMEN_RESTRICT to, const uint16_t* LUMEN_RESTRICT from, int64_t count) {
  LUMEN_ELEMENTS(j, count) to[j] = lumen_store_bf16(lumen_load_f16(from[j]));
}
#endif
)C";

// Stores that leave the caches alone: a line that is written whole is not read first. Others see them after the end.
const char* const kStream = R"C(
#define LUMEN_STRIP 256
#define LUMEN_STRIPS_AHEAD 4
#if defined(__AVX512F__) || defined(__AVX__)
#if defined(__AVX512F__)
#define LUMEN_STREAM_BYTES 64
#else
#define LUMEN_STREAM_BYTES 32
#endif
typedef long long lumen_streamed __attribute__((vector_size(LUMEN_STREAM_BYTES), may_alias));
typedef lumen_streamed lumen_loose __attribute__((aligned(1), may_alias));
#if defined(__clang__)
#define LUMEN_STREAM(to, value) __builtin_nontemporal_store(value, to)
#elif defined(__AVX512F__)
#define LUMEN_STREAM(to, value) __builtin_ia32_movntdq512(to, value)
#else
#define LUMEN_STREAM(to, value) __builtin_ia32_movntdq256(to, value)
#endif
static inline void lumen_stream(void* to, const void* from, int64_t bytes) {
  char* const put = (char*)to;
  const char* const get = (const char*)from;
  const int64_t unaligned = (int64_t)(-(uintptr_t)put % LUMEN_STREAM_BYTES);
  int64_t at = lumen_min_i64(unaligned, bytes);
  __builtin_memcpy(put, get, (unsigned long)at);
  for (; at + LUMEN_STREAM_BYTES <= bytes; at += LUMEN_STREAM_BYTES) {
    LUMEN_STREAM((lumen_streamed*)(put + at), *(const lumen_loose*)(get + at));
  }
  __builtin_memcpy(put + at, get + at, (unsigned long)(bytes - at));
}
static inline void lumen_end_stream(void) { __builtin_ia32_sfence(); }
#else
static inline void lumen_stream(void* to, const void* from, int64_t bytes) { __builtin_memcpy(to, from, (unsigned long)bytes); }
static inline void lumen_end_stream(void) {}
#endif
)C";

const char* const kCuda = R"C(
#define LUMEN_RESTRICT __restrict__
#define LUMEN_UNROLLED _Pragma("unroll")
template <int kInputs, int kOutputs, int kDims>
struct LumenArgs {
  int64_t rows;          // of a step of a body without dims
  const int64_t* sizes;  // of one with dims: the rows, then the dims
  unsigned long long* fault;
  unsigned long long* ended;  // gets when the last block did, or null
  const void* in[kInputs];
  void* out[kOutputs];
};
template <int kInputs, int kOutputs, int kDims>
LUMEN_FN int64_t lumen_rows(const LumenArgs<kInputs, kOutputs, kDims>& args) {
  if constexpr (kDims > 0) return args.sizes[0];
  return args.rows;
}
struct LumenBlocks {
  unsigned x;
};
#define LUMEN_KERNEL_OF(name, threads, blocks, inputs, outputs, dim_count) \
  extern "C" __global__ void __launch_bounds__(threads, blocks) name(    \
      const __grid_constant__ LumenArgs<inputs, outputs, dim_count> args)
#define LUMEN_KERNEL(name, threads, ...) LUMEN_KERNEL_OF(name, threads, 1, __VA_ARGS__)
#define LUMEN_KERNEL_2(name, threads, ...) LUMEN_KERNEL_OF(name, threads, 2, __VA_ARGS__)
#define LUMEN_KERNEL_3(name, threads, ...) LUMEN_KERNEL_OF(name, threads, 3, __VA_ARGS__)
#define LUMEN_KERNEL_4(name, threads, ...) LUMEN_KERNEL_OF(name, threads, 4, __VA_ARGS__)
#define LUMEN_KERNEL_6(name, threads, ...) LUMEN_KERNEL_OF(name, threads, 6, __VA_ARGS__)
#define LUMEN_KERNEL_8(name, threads, ...) LUMEN_KERNEL_OF(name, threads, 8, __VA_ARGS__)
#define LUMEN_KERNEL_12(name, threads, ...) LUMEN_KERNEL_OF(name, threads, 12, __VA_ARGS__)
#define LUMEN_KERNEL_16(name, threads, ...) LUMEN_KERNEL_OF(name, threads, 16, __VA_ARGS__)
#define LUMEN_IN(k) args.in[k]
#define LUMEN_OUT(k) args.out[k]
#define LUMEN_DIM(k) args.sizes[1 + (k)]
#define LUMEN_NAME(type, name, place) type* LUMEN_RESTRICT name = (type*)__builtin_assume_aligned(place, 16);
#define LUMEN_NAMES(name) name##_NAMES(LUMEN_NAME)
// A kernel is begun before the one before it has ended, and waits here; what the host has written is there before. That
// the next one may begin is said in turns, 1.2 ns a block on an H200: many short blocks would wait for nothing else, and
// those that begin last are near the end.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900 && !defined(LUMEN_EMULATED)
#define LUMEN_BEGIN_WHERE(condition)                                     \
  const int64_t row_end = lumen_rows(args);                              \
  if (condition) asm volatile("griddepcontrol.launch_dependents;"); \
  asm volatile("griddepcontrol.wait;" ::: "memory")
#else
#define LUMEN_BEGIN_WHERE(condition) const int64_t row_end = lumen_rows(args)
#endif
#define LUMEN_BEGIN LUMEN_BEGIN_WHERE(true)
#define LUMEN_BEGIN_MANY LUMEN_BEGIN_WHERE(gridDim.x <= 2048)
// Where the number is known, loops over single elements need no division for their number of turns, and what warps
// hand each other no loop. Loops over groups of neighbours must not know it: unrolled, they lose that their addresses
// are aligned, and read single elements.
#ifdef LUMEN_EMULATED
#define LUMEN_THREADS(n) if (blockDim.x != (n)) lumen_emulator::fail("a block has other threads than its text says", __LINE__)
LUMEN_FN uint32_t lumen_some_threads(void) { return blockDim.x; }
#else
#define LUMEN_THREADS(n) __builtin_assume(blockDim.x == (n))
LUMEN_FN uint32_t lumen_some_threads(void) {
  uint32_t n;
  asm("mov.u32 %0, %%ntid.x;" : "=r"(n));
  return n;
}
#endif
#define LUMEN_BLOCK(n) ((n) * 256)
#define LUMEN_VECTOR
// Their number is read again for each: kernels that need all registers do not keep it.
#define LUMEN_ROWS(row) for (int64_t row = blockIdx.x; row < lumen_rows(args); row += gridDim.x)
#define LUMEN_ELEMENTS(i, count) for (int64_t i = threadIdx.x; i < (count); i += blockDim.x)
#define LUMEN_FOLD(i, count, clauses) LUMEN_ELEMENTS(i, count)
#define LUMEN_ELEMENT_ROWS(i)                                              \
  for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; \
       i < row_end; i += (int64_t)gridDim.x * blockDim.x)
#define LUMEN_ORDERED_ROWS(i)                                                                                   \
  for (int64_t i##_group = ((int64_t)blockIdx.x * blockDim.x + threadIdx.x) * 8; i##_group < row_end; \
       i##_group += (int64_t)gridDim.x * blockDim.x * 8)                                                     \
    for (int64_t i = i##_group; i < lumen_min_i64(i##_group + 8, row_end); ++i)
#define LUMEN_RANGE(i, first, last) for (int64_t i = (first) + threadIdx.x; i < (last); i += blockDim.x)
#define LUMEN_IN_ORDER(i, first, last) for (int64_t i = (first); i < (threadIdx.x == 0 ? (last) : (first)); ++i)
#define LUMEN_BY_ONE(i, count) LUMEN_IN_ORDER(i, 0, count)
#define LUMEN_GROUPS(i, width, first, last)                                              \
  for (int64_t i##_group = (first) + (int64_t)threadIdx.x * (width); i##_group < (last); \
       i##_group += (int64_t)lumen_some_threads() * (width))
#define LUMEN_ROW_GROUPS(i, width)                                                                 \
  for (int64_t i##_group = ((int64_t)blockIdx.x * blockDim.x + threadIdx.x) * (width); \
       i##_group < row_end; i##_group += (int64_t)gridDim.x * blockDim.x * (width))
// Where there is a block for every row, and a thread for every group of it.
#define LUMEN_ONE_ROW(row) if (const int64_t row = blockIdx.x; row < row_end)
#define LUMEN_ONE_GROUP(i, width, first, last) \
  if (const int64_t i##_group = (first) + (int64_t)threadIdx.x * (width); i##_group < (last))
#define LUMEN_ONE_ROW_GROUP(i, width) LUMEN_ONE_GROUP(i, width, (int64_t)blockIdx.x * blockDim.x * (width), row_end)
#define LUMEN_EACH(i, width) _Pragma("unroll") for (int64_t i = i##_group; i < i##_group + (width); ++i)
#define LUMEN_HOLD(type, name, width) type name[width]
#define LUMEN_TAKE(type, name, width, from, first, group, index) \
  type name[width];                                              \
  {                                                              \
    const int64_t first = group;                                 \
    lumen_read<width>(name, from + (index));                     \
  }
#define LUMEN_TAKE_AGAIN LUMEN_TAKE
#define LUMEN_FETCH_ROW(type, from, first, group, index)
#define LUMEN_GOT(name, place, element) name[place]
#define LUMEN_KEEP(name, place, element, value) name[place] = value
#define LUMEN_HOLD_RESULT LUMEN_HOLD
#define LUMEN_KEEP_RESULT LUMEN_KEEP
// Whether results, and rows that are read at once, are to outlast other lines in the second cache.
#define LUMEN_KEPT_RESULTS false
#define LUMEN_KEPT_ROWS false
#define LUMEN_FLUSH_RESULT(name, width, to, first, group, index) \
  {                                                              \
    const int64_t first = group;                                 \
    lumen_write<width, LUMEN_KEPT_RESULTS>(to + (index), name);  \
  }
#define LUMEN_FLUSH(name, width, to, first, group, index) \
  {                                                       \
    const int64_t first = group;                          \
    lumen_write<width>(to + (index), name);               \
  }
#define LUMEN_FULL_GROUPS(b, lanes, width, first, last)                              \
  for (int64_t b = (first) + (int64_t)threadIdx.x * (width); b < (last); \
       b += (int64_t)lumen_some_threads() * (width))
// Unrolled, so that what is held is in registers; only a turn that is not whole has a condition.
#define LUMEN_TURNS(b, width, turns, threads, first, last)                                      \
  _Pragma("unroll") for (int b##_turn = 0; b##_turn < (turns); ++b##_turn)                      \
    if (const int64_t b = (first) + (b##_turn * (threads) + (int)threadIdx.x) * (width);        \
        (b##_turn + 1) * (threads) * (width) <= (last) - (first) || b < (last))
#define LUMEN_FULL_TURNS(b, lanes, width, turns, threads, first, last) \
  LUMEN_TURNS(b, width, turns, threads, first, last)
#define LUMEN_GROUP_TURNS(i, width, turns, threads, first, last) \
  LUMEN_TURNS(i##_group, width, turns, threads, first, last)
#define LUMEN_HOLD_ROW(type, name, width, turns) type name[turns][width]
#define LUMEN_TAKE_ROW(type, name, width, turns, threads, from, first, begin, end, index)          \
  LUMEN_HOLD_ROW(type, name, width, turns);                                                        \
  {                                                                                                \
    const int64_t first = begin;                                                                   \
    lumen_read_row<threads, LUMEN_KEPT_ROWS>(name, from + (index), (end) - (begin));               \
  }
#define LUMEN_TAKE_TURN(type, name, width, from, first, group, index)
#define LUMEN_LANES_OF(l, lanes, width) _Pragma("unroll") for (int64_t l = 0; l < (width); ++l)
#define LUMEN_REST(b, l, lanes, first, last) for (int64_t b = 0, l = 1; l < 1; ++l)
#define LUMEN_COMBINE(function, x, lanes, width) lumen_block_##function(lumen_lanes_##function(x, width))
#define LUMEN_LANES(lanes, width) (width)
#define LUMEN_PARTS(i, first, last) LUMEN_RANGE(i, first, last)
#define LUMEN_TOGETHER(function, x) lumen_block_##function(x)
#define LUMEN_ROW_BUFFER(type, name, count) __shared__ __align__(16) type name[count]
#define LUMEN_SYNC __syncthreads()
#define LUMEN_ONCE if (threadIdx.x == 0)
#ifdef LUMEN_EMULATED
LUMEN_FN unsigned long long lumen_nanoseconds(void) { return 1; }
#else
LUMEN_FN unsigned long long lumen_nanoseconds(void) {
  unsigned long long now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now) :: "memory");
  return now;
}
#endif
#define LUMEN_RETURN                                                              \
  if (fault != 0) atomicMax(args.fault, (unsigned long long)__ffsll(fault)); \
  if (args.ended != nullptr && threadIdx.x == 0) atomicMax(args.ended, lumen_nanoseconds())
)C";

// Where a target has no vectors of its own for maxima, or for powers.
const char* const kPlainLanes = R"C(
#ifndef LUMEN_SEEN
#define LUMEN_SEEN(x, lanes, width)
#define LUMEN_SEE(s, x, l, value) s[l] = lumen_max_f32(s[l], value)
#define LUMEN_RAISE(s, x, lanes, width)
#endif
#ifndef LUMEN_POWERS
#define LUMEN_POWERS(x, lanes, width)
#define LUMEN_POWER_LANES(l, lanes, width) for (int64_t l = 0; l < 0; ++l)
#define LUMEN_PUT_POWER(x, l, value)
#define LUMEN_ALL_POWERS(x, lanes, width)
#define LUMEN_POWER(x, l, value) lumen_exp2_f32(value)
#endif
)C";

const char* const kShared = R"C(
LUMEN_FN float lumen_inf_f32(void) { return lumen_from_bits_f32(0x7f800000u); }
LUMEN_FN double lumen_inf_f64(void) { return lumen_from_bits_f64(0x7ff0000000000000ull); }
LUMEN_FN float lumen_nan_f32(void) { return lumen_from_bits_f32(0x7fc00000u); }
LUMEN_FN double lumen_nan_f64(void) { return lumen_from_bits_f64(0x7ff8000000000000ull); }
// To f32 with the last bit set where bits were lost: what is then rounded to fewer bits is rounded as if once.
LUMEN_FN float lumen_odd_f64(double x) {
  const float nearest = (float)x;
  const double back = (double)nearest;
  const uint32_t past = lumen_abs_f64(back) > lumen_abs_f64(x);
  const uint32_t odd = (lumen_bits_f32(nearest) - past) | 1u;
  return (back == x) | (x != x) ? nearest : lumen_from_bits_f32(odd);
}
// The same to f64, for magnitudes of more than 53 bits.
LUMEN_FN double lumen_odd_u64(uint64_t x) {
  const uint64_t high = (x >> 11) | ((x & 0x7ffu) != 0);
  return x >> 53 ? (double)high * 2048.0 : (double)x;
}
LUMEN_FN double lumen_odd_i64(int64_t x) {
  return x < 0 ? -lumen_odd_u64(0 - (uint64_t)x) : lumen_odd_u64((uint64_t)x);
}
// To the left, or to the right by less than nothing.
LUMEN_FN uint64_t lumen_place_bits(uint64_t x, int64_t shift) {
  return shift >= 64 ? 0 : shift >= 0 ? x << shift : x >> -shift;
}
LUMEN_FN int64_t lumen_min_i64(int64_t a, int64_t b) { return a < b ? a : b; }
// Towards zero, saturating, NaN gives 0. `end` is the first number too large, `most` the largest integer.
LUMEN_FN int64_t lumen_to_i64(double x, double end, int64_t most) {
  const int64_t inside = (int64_t)(((x < end) & (x >= -end)) ? x : 0.0);
  return x >= end ? most : (x < -end ? -most - 1 : inside);
}
LUMEN_FN uint64_t lumen_to_u64(double x, double end, uint64_t most) {
  const uint64_t inside = (uint64_t)(((x < end) & (x > -1.0)) ? x : 0.0);
  return x >= end ? most : inside;
}
)C";

// Partial results of a row: in C one per lane, `lanes` a power of two; on a GPU one per thread, and all threads get
// what they combine to, and see what others have written before.
const char* const kFoldLanes = R"C(
LUMEN_FN {T} lumen_lanes_{F}_{S}({T}* x, int lanes) {{
  LUMEN_UNROLLED for (int half = lanes / 2; half > 0; half /= 2) {{
    for (int l = 0; l < half; ++l) x[l] = lumen_{F}_{S}(x[l], x[l + half]);
  }}
  return x[0];
}}
)C";
// Halves whose size is known are vectors, and a function of its own does not make gcc hold the lanes in memory while a
// row is folded: a softmax of 512 elements is 1.15 times as fast.
const char* const kFoldLanesC = R"C(
LUMEN_BIG_FN {T} lumen_lanes_{F}_{S}({T}* x, int lanes) {{
  for (int half = lanes / 2; half > 16; half /= 2) {{
    LUMEN_VECTOR for (int l = 0; l < half; ++l) x[l] = lumen_{F}_{S}(x[l], x[l + half]);
  }}
  if (lanes >= 32) LUMEN_VECTOR for (int l = 0; l < 16; ++l) x[l] = lumen_{F}_{S}(x[l], x[l + 16]);
  if (lanes >= 16) LUMEN_VECTOR for (int l = 0; l < 8; ++l) x[l] = lumen_{F}_{S}(x[l], x[l + 8]);
  if (lanes >= 8) LUMEN_VECTOR for (int l = 0; l < 4; ++l) x[l] = lumen_{F}_{S}(x[l], x[l + 4]);
  if (lanes >= 4) LUMEN_VECTOR for (int l = 0; l < 2; ++l) x[l] = lumen_{F}_{S}(x[l], x[l + 2]);
  return lanes >= 2 ? lumen_{F}_{S}(x[0], x[1]) : x[0];
}}
)C";

// Every prefix of x, after `carried`. Groups are scanned on their own and then raised by what was before them, so that
// the sum waits for one step a group.
const char* const kScan = R"C(
LUMEN_FN {T} lumen_scan_{F}_{S}({T}* x, int64_t n, {T} carried) {{
  int64_t k = 0;
  for (; k + 8 <= n; k += 8) {{
    const {T} p0 = x[k], p1 = lumen_{F}_{S}(p0, x[k + 1]);
    const {T} p2 = lumen_{F}_{S}(p1, x[k + 2]), p3 = lumen_{F}_{S}(p2, x[k + 3]);
    const {T} p4 = lumen_{F}_{S}(p3, x[k + 4]), p5 = lumen_{F}_{S}(p4, x[k + 5]);
    const {T} p6 = lumen_{F}_{S}(p5, x[k + 6]), p7 = lumen_{F}_{S}(p6, x[k + 7]);
    x[k] = lumen_{F}_{S}(carried, p0);
    x[k + 1] = lumen_{F}_{S}(carried, p1);
    x[k + 2] = lumen_{F}_{S}(carried, p2);
    x[k + 3] = lumen_{F}_{S}(carried, p3);
    x[k + 4] = lumen_{F}_{S}(carried, p4);
    x[k + 5] = lumen_{F}_{S}(carried, p5);
    x[k + 6] = lumen_{F}_{S}(carried, p6);
    carried = lumen_{F}_{S}(carried, p7);
    x[k + 7] = carried;
  }}
  for (; k < n; ++k) {{
    carried = lumen_{F}_{S}(carried, x[k]);
    x[k] = carried;
  }}
  return carried;
}}
)C";

const char* const kFoldCuda = R"C(
LUMEN_FN {T} lumen_block_{F}_{S}({T} x) {{
  __shared__ {T} partial[32];
  for (int step = 16; step > 0; step /= 2) x = lumen_{F}_{S}(x, ({T})__shfl_xor_sync(0xffffffffu, x, step));
  if (blockDim.x == 32) {{
    __syncwarp();
    return x;
  }}
  __syncthreads();
  if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = x;
  __syncthreads();
  const int warps = (int)(blockDim.x / 32);
  if ((warps & (warps - 1)) != 0) {{
    x = partial[0];
    for (int warp = 1; warp < warps; ++warp) x = lumen_{F}_{S}(x, partial[warp]);
    return x;
  }}
  x = partial[threadIdx.x & (warps - 1)];
  for (int step = 1; step < warps; step *= 2) x = lumen_{F}_{S}(x, ({T})__shfl_xor_sync(0xffffffffu, x, step));
  return x;
}}
)C";

// Threads hand each other 32 bits at least.
const char* const kFoldBoolCuda = R"C(
LUMEN_FN uint8_t lumen_block_max_bool(uint8_t x) { return (uint8_t)lumen_block_max_u32((uint32_t)x); }
)C";

std::string of_function(const char* text, DType dtype, std::string_view function) {
  return fmt::format(fmt::runtime(text), fmt::arg("F", function), fmt::arg("S", compute_suffix(dtype)),
                     fmt::arg("T", compute_type(dtype)));
}

std::string folds(Syntax syntax) {
  std::string text;
  const char* const lanes = syntax == Syntax::cuda ? kFoldLanes : kFoldLanesC;
  for (const DType dtype : {DType::f32, DType::f64, DType::i32, DType::i64, DType::u32, DType::u64}) {
    for (const std::string_view function : {"add", "mul", "max"}) {
      text += of_function(lanes, dtype, function) + of_function(kScan, dtype, function);
      if (syntax == Syntax::cuda) text += of_function(kFoldCuda, dtype, function);
    }
  }
  text += of_function(kScan, DType::bool_, "max");
  text += of_function(lanes, DType::bool_, "max");
  return text + (syntax == Syntax::cuda ? kFoldBoolCuda : "");
}

// lumen_round_<dtype>: a float as it would come back from storage; that of bf16 stands beside its store.
std::string rounding() {
  std::string text;
  for (const DTypeInfo& about : all_dtypes()) {
    const DType dtype = about.dtype;
    if (!rounds(dtype) || dtype == DType::bf16) continue;
    const char* form = is_packed(dtype)
                           ? "LUMEN_FN float lumen_round_{0}(float x) {{ uint8_t b[4] = {{0}}; {2}(b, 0, x); "
                             "return {1}(b, 0); }}\n"
                           : "LUMEN_FN float lumen_round_{0}(float x) {{ return {1}({2}(x)); }}\n";
    text += fmt::format(fmt::runtime(form), about.name, load_function(dtype), store_function(dtype));
  }
  return text;
}

}  // namespace

std::string kernel_prelude(Syntax syntax) {
  std::string text =
      scalar_prelude(syntax) + (syntax == Syntax::c ? kC : kCuda) + kPlainLanes + kShared + rounding() + folds(syntax);
  if (syntax == Syntax::c) text += std::string(kHalves) + kStream;
  if (syntax == Syntax::cuda)
    text += std::string(cuda_text::kMemory) + cuda_text::kMatrix + cuda_text::group_words() + cuda_text::kSort;
  return text;
}

std::string kernel_prelude_of(std::span<const std::string_view> kernels) {
  const bool calls = std::ranges::any_of(kernels, [](std::string_view text) {
    return std::ranges::any_of(std::array{"_exp2_", "_tanh_", "_erf_"},
                               [&](const char* name) { return text.find(name) != std::string_view::npos; });
  });
  return (calls ? "" : "#define LUMEN_WITHOUT_LANES\n") + kernel_prelude(Syntax::c);
}

}  // namespace lumen
