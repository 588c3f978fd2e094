// The words of CUDA for a C++ compiler: kernels run on this machine, one block at a time, its threads as fibers that
// are run one after the other, in an order that changes, each until it waits for others. What a kernel leaves to chance
// comes out wrong, and a thread that is waited for in vain is reported.
//
// It stands before the text of kernels; cuda_emulator.h compiles and calls them.
#pragma once

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define LUMEN_EMULATED
#define __global__
#define __device__
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(...)
#define __grid_constant__
#define __align__(n) __attribute__((aligned(n)))
#define __shared__ static __attribute__((section("lumen_shared"), aligned(16)))

struct Dim3 {
  unsigned x = 1, y = 1, z = 1;
};
struct alignas(8) uint2 {
  unsigned x, y;
};
struct alignas(16) uint4 {
  unsigned x, y, z, w;
};
struct alignas(8) float2 {
  float x, y;
};
struct alignas(16) float4 {
  float x, y, z, w;
};

static Dim3 threadIdx, blockIdx, blockDim, gridDim;

// Saves where the running fiber is, on its stack, and goes on with another. `kFrame` words are saved; the one at
// `kReturn` is where it goes on.
#if defined(__x86_64__)
namespace lumen_emulator {
constexpr int kFrame = 8, kReturn = 6;
}
asm(".pushsection .text\n"
    ".type lumen_switch_fiber, @function\n"
    "lumen_switch_fiber:\n"
    "  pushq %rbp\n  pushq %rbx\n  pushq %r12\n  pushq %r13\n  pushq %r14\n  pushq %r15\n"
    "  movq %rsp, (%rdi)\n  movq %rsi, %rsp\n"
    "  popq %r15\n  popq %r14\n  popq %r13\n  popq %r12\n  popq %rbx\n  popq %rbp\n"
    "  ret\n"
    ".popsection\n");
#elif defined(__aarch64__)
namespace lumen_emulator {
constexpr int kFrame = 20, kReturn = 11;
}
asm(".pushsection .text\n"
    ".type lumen_switch_fiber, %function\n"
    "lumen_switch_fiber:\n"
    "  sub sp, sp, #160\n"
    "  stp x19, x20, [sp]\n  stp x21, x22, [sp, #16]\n  stp x23, x24, [sp, #32]\n  stp x25, x26, [sp, #48]\n"
    "  stp x27, x28, [sp, #64]\n  stp x29, x30, [sp, #80]\n"
    "  stp d8, d9, [sp, #96]\n  stp d10, d11, [sp, #112]\n  stp d12, d13, [sp, #128]\n  stp d14, d15, [sp, #144]\n"
    "  mov x9, sp\n  str x9, [x0]\n  mov sp, x1\n"
    "  ldp x19, x20, [sp]\n  ldp x21, x22, [sp, #16]\n  ldp x23, x24, [sp, #32]\n  ldp x25, x26, [sp, #48]\n"
    "  ldp x27, x28, [sp, #64]\n  ldp x29, x30, [sp, #80]\n"
    "  ldp d8, d9, [sp, #96]\n  ldp d10, d11, [sp, #112]\n  ldp d12, d13, [sp, #128]\n  ldp d14, d15, [sp, #144]\n"
    "  add sp, sp, #160\n"
    "  ret\n"
    ".popsection\n");
#else
#error "threads are switched by instructions of x86-64 or AArch64"
#endif
extern "C" __attribute__((visibility("hidden"))) void lumen_switch_fiber(void** save, void* to);
extern "C" __attribute__((visibility("hidden"))) char __start_lumen_shared[], __stop_lumen_shared[];

namespace lumen_emulator {

constexpr int kMostThreads = 1024;
constexpr size_t kStackBytes = 256 << 10;
constexpr int64_t kMostShared = 256 << 10;

enum class State { ready, at_barrier, done };
struct Fiber {
  void* stack_pointer;
  State state;
  int site;    // of the barrier
  int parity;  // of the next exchange
};
// What the lanes of a warp hand each other. A lane may be one exchange ahead of the others, so there are two.
struct Warp {
  alignas(16) char slots[2][32][64];
  unsigned arrived[2], passed[2];
};

inline Fiber fibers[kMostThreads];
inline Warp warps[kMostThreads / 32];
inline void* scheduler;
inline int running;
inline int64_t progress;
inline char message[300];
alignas(1024) inline char dynamic_shared[kMostShared];
inline void (*call)(const void* kernel, const void* args);
inline const void *call_kernel, *call_args;
inline uint64_t chance = 88172645463325252ull;

inline void fail(const char* what, int site) {
  if (message[0] == 0) {
    snprintf(message, sizeof message, "%s: thread %d of block %u, line %d", what, running, blockIdx.x, site);
  }
}
inline void yield() { lumen_switch_fiber(&fibers[running].stack_pointer, scheduler); }

inline void barrier(int site) {
  fibers[running].site = site;
  fibers[running].state = State::at_barrier;
  yield();
}

template <class T>
struct Given {
  const char* slots;
  const T& operator[](unsigned lane) const { return *reinterpret_cast<const T*>(slots + lane * 64); }
};

// What every lane of `mask` has given, when all have. It stays until the next exchange but one.
template <class T>
Given<T> exchange(unsigned mask, const T& mine, int site) {
  static_assert(sizeof(T) <= 64);
  Warp& warp = warps[running / 32];
  const unsigned lane = running % 32, bit = 1u << lane;
  const int parity = fibers[running].parity;
  if ((mask & bit) == 0) fail("a lane that is not in its mask", site);
  memcpy(warp.slots[parity][lane], &mine, sizeof mine);
  warp.arrived[parity] |= bit;
  ++progress;
  while ((warp.arrived[parity] & mask) != mask) yield();
  fibers[running].parity ^= 1;
  ++progress;
  warp.passed[parity] |= bit;
  if ((warp.passed[parity] & mask) == mask) warp.arrived[parity] = warp.passed[parity] = 0;
  return {warp.slots[parity][0]};
}

inline void check_aligned(const void* p, size_t bytes, int site) {
  if (reinterpret_cast<uintptr_t>(p) % bytes != 0) fail("an address that is not aligned", site);
}

}  // namespace lumen_emulator

#include "cuda_gate_words.h"
#include "cuda_group_words.h"

namespace lumen_emulator {

// Copies that go on while their thread does: nothing is there before it has been waited for, and nothing that was.
constexpr int kLateness = 160;    // times that others are run
constexpr int kMostCopies = 256;  // of a thread, that are under way
struct Copies {
  struct {
    void* to;
    const void* from;
    int bytes, commit;
  } all[kMostCopies];
  unsigned first, last;
  int commits;
};
inline Copies copies[kMostThreads];

inline void copy_later(void* to, const void* from, int bytes) {
  Copies& mine = copies[running];
  if (mine.last - mine.first == kMostCopies) fail("more copies than are counted", 0);
  memset(to, 0xff, 16);
  mine.all[mine.last++ % kMostCopies] = {to, from, bytes, mine.commits};
}
inline void commit_copies() { ++copies[running].commits; }
// Some are late, so that who does not wait for them does not find them.
inline void finish_copies(int behind) {
  const bool is_late = running % 32 == 0 && chance % 8 == 0;
  for (int k = 0; is_late && k < kLateness; ++k) ++progress, yield();
  Copies& mine = copies[running];
  for (; mine.first != mine.last; ++mine.first) {
    const auto& copy = mine.all[mine.first % kMostCopies];
    if (copy.commit >= mine.commits - behind) return;
    memset(copy.to, 0, 16);
    memcpy(copy.to, copy.from, static_cast<size_t>(copy.bytes));
    products[running].unshown = true;
  }
}

inline void run_fiber() {
  call(call_kernel, call_args);
  fibers[running].state = State::done;
  ++progress;
  yield();
}

inline char* stacks() {
  static char* const memory = static_cast<char*>(mmap(nullptr, kMostThreads * kStackBytes, PROT_READ | PROT_WRITE,
                                                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
  return memory;
}

inline void begin_block(int threads, int64_t shared) {
  memset(__start_lumen_shared, 0xff, static_cast<size_t>(__stop_lumen_shared - __start_lumen_shared));
  memset(dynamic_shared, 0xff, static_cast<size_t>(shared));
  memset(warps, 0, sizeof warps);
  memset(places, 0, sizeof places);
  for (int t = 0; t < threads; ++t) {
    auto* top = reinterpret_cast<void**>(stacks() + static_cast<size_t>(t + 1) * kStackBytes);
    memset(top -= kFrame, 0, kFrame * sizeof *top);
    top[kReturn] = reinterpret_cast<void*>(&run_fiber);
    fibers[t] = {top, State::ready, 0, 0};
    copies[t].first = copies[t].last = 0;
    copies[t].commits = 0;
    products[t].sum_count = products[t].watched_count = products[t].commits = 0;
    products[t].begun = products[t].unshown = false;
  }
}

// Everyone is there, at one place: they go on. Nobody comes who has ended.
inline void release_barrier(int threads) {
  int waiting = 0, ended = 0;
  for (int t = 0; t < threads; ++t) {
    waiting += fibers[t].state == State::at_barrier ? 1 : 0;
    ended += fibers[t].state == State::done ? 1 : 0;
  }
  if (waiting == 0) return;
  for (int t = 0; t < threads && waiting + ended == threads; ++t) {
    running = t;
    if (ended > 0 && fibers[t].state == State::at_barrier)
      fail("a barrier that some threads never reach", fibers[t].site);
    if (ended == 0 && fibers[t].site != fibers[0].site) fail("threads wait at different barriers", fibers[t].site);
    fibers[t].state = fibers[t].state == State::done ? State::done : State::ready;
    ++progress;
  }
}

inline void run_block(int threads, int64_t shared) {
  begin_block(threads, shared);
  int order[kMostThreads];
  for (int t = 0; t < threads; ++t) order[t] = t;
  for (int64_t before = -1; before != progress && message[0] == 0;) {
    before = progress;
    for (int t = threads - 1; t > 0; --t) {
      chance ^= chance << 13, chance ^= chance >> 7, chance ^= chance << 17;
      const auto other = static_cast<int>(chance % static_cast<uint64_t>(t + 1));
      const int kept = order[t];
      order[t] = order[other], order[other] = kept;
    }
    for (int t = 0; t < threads; ++t) {
      if (fibers[order[t]].state != State::ready) continue;
      running = order[t];
      threadIdx.x = static_cast<unsigned>(running);
      threadIdx.y = threadIdx.z = 0;
      lumen_switch_fiber(&scheduler, fibers[running].stack_pointer);
    }
    release_barrier(threads);
  }
  for (int t = 0; t < threads; ++t) {
    running = t;
    if (fibers[t].state != State::done) fail("threads wait for each other", fibers[t].site);
  }
}

// What went wrong; null when nothing did.
template <class Args>
const char* launch(void (*kernel)(Args), const void* args, int64_t blocks, int64_t threads, int64_t shared) {
  message[0] = 0;
  if (threads % 32 != 0 || threads > kMostThreads || shared > kMostShared) return "a block of impossible size";
  call = [](const void* function, const void* given) {
    reinterpret_cast<void (*)(Args)>(const_cast<void*>(function))(*static_cast<const Args*>(given));
  };
  call_kernel = reinterpret_cast<const void*>(kernel);
  call_args = args;
  blockDim.x = static_cast<unsigned>(threads);
  gridDim.x = static_cast<unsigned>(blocks);
  for (int64_t block = blocks - 1; block >= 0 && message[0] == 0; --block) {
    blockIdx.x = static_cast<unsigned>(block);
    blockIdx.y = blockIdx.z = 0;
    run_block(static_cast<int>(threads), shared);
  }
  return message[0] == 0 ? nullptr : message;
}

}  // namespace lumen_emulator

// So that the section is there, however little a text shares.
__attribute__((used)) static char lumen_shared_anchor[16] __attribute__((section("lumen_shared")));

#define __syncthreads() lumen_emulator::barrier(__LINE__)
#define __syncwarp(...) ((void)lumen_emulator::exchange(0xffffffffu, 0, __LINE__))
#define __shfl_xor_sync(mask, x, step) lumen_shuffle(mask, x, lumen_emulator::running % 32 ^ (step), __LINE__)
#define __shfl_sync(mask, x, lane) lumen_shuffle(mask, x, (lane) % 32, __LINE__)
#define __shfl_down_sync(mask, x, step) lumen_shuffle_by(mask, x, lumen_emulator::running % 32 + (int)(step), __LINE__)
#define __shfl_up_sync(mask, x, step) lumen_shuffle_by(mask, x, lumen_emulator::running % 32 - (int)(step), __LINE__)
#define __ballot_sync(mask, x) lumen_ballot(mask, x, __LINE__)
#define __any_sync(mask, x) (lumen_ballot(mask, x, __LINE__) != 0)
#define __all_sync(mask, x) (lumen_ballot(mask, x, __LINE__) == (mask))

template <class T>
T lumen_shuffle(unsigned mask, T x, int lane, int site) {
  return lumen_emulator::exchange(mask, x, site)[lane];
}
template <class T>
T lumen_shuffle_by(unsigned mask, T x, int lane, int site) {
  const auto all = lumen_emulator::exchange(mask, x, site);
  return lane < 0 || lane > 31 ? x : all[lane];
}
inline unsigned lumen_ballot(unsigned mask, int x, int site) {
  const auto all = lumen_emulator::exchange(mask, x, site);
  unsigned found = 0;
  for (unsigned lane = 0; lane < 32; ++lane) found |= (mask >> lane & 1) != 0 && all[lane] != 0 ? 1u << lane : 0;
  return found;
}

template <class T>
T atomicAdd(T* at, T x) {
  const T old = *at;
  *at = old + x;
  return old;
}
template <class T>
T atomicMax(T* at, T x) {
  const T old = *at;
  *at = old > x ? old : x;
  return old;
}
template <class T>
T atomicCAS(T* at, T expected, T x) {
  const T old = *at;
  if (old == expected) *at = x;
  return old;
}

inline unsigned __float_as_uint(float x) { return __builtin_bit_cast(unsigned, x); }
inline float __uint_as_float(unsigned x) { return __builtin_bit_cast(float, x); }
inline long long __double_as_longlong(double x) { return __builtin_bit_cast(long long, x); }
inline double __longlong_as_double(long long x) { return __builtin_bit_cast(double, x); }
inline float __fmaf_rn(float a, float b, float c) { return fmaf(a, b, c); }
inline double __fma_rn(double a, double b, double c) { return fma(a, b, c); }
inline float __fdiv_rn(float a, float b) { return a / b; }
inline double __ddiv_rn(double a, double b) { return a / b; }
inline float __fsqrt_rn(float x) { return sqrtf(x); }
inline double __dsqrt_rn(double x) { return sqrt(x); }
inline int __ffsll(long long x) { return __builtin_ffsll(x); }
inline void __threadfence() {}
