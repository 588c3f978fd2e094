#include "lumen/codegen/cuda_text.h"

namespace lumen::cuda_text {

// lumen_unpack_<dtype>(v, to): the elements that 16 bytes hold, in the type that is computed with.
const char* const kMemory = R"C(
#ifdef LUMEN_EMULATED
#define LUMEN_UNROLL
#define LUMEN_UNROLL_BY(n)
#define LUMEN_DYNAMIC_SHARED(name) unsigned char* const name = (unsigned char*)lumen_emulator::dynamic_shared
#define LUMEN_SHARED_TILES(name) LUMEN_DYNAMIC_SHARED(name)
#else
#define LUMEN_UNROLL _Pragma("unroll")
#define LUMEN_PRAGMA(text) _Pragma(#text)
#define LUMEN_UNROLL_BY(n) LUMEN_PRAGMA(unroll n)
#define LUMEN_DYNAMIC_SHARED(name)                                        \
  extern __shared__ __align__(128) unsigned char lumen_dynamic_shared[]; \
  unsigned char* const name = lumen_dynamic_shared
// The same at a multiple of 1024, as products of groups need it.
#define LUMEN_SHARED_TILES(name)                                        \
  extern __shared__ __align__(1024) unsigned char lumen_shared_tiles[]; \
  unsigned char* const name = lumen_shared_tiles
#endif

// Brings a line of 128 bytes nearer. Nothing is read: it may be written by others meanwhile.
LUMEN_FN void lumen_prefetch(const void* p) {
#ifndef LUMEN_EMULATED
  asm volatile("prefetch.global.L2 [%0];" ::"l"(p));
#endif
}

// What is read once and by nobody else: it need not stay in the nearest cache.
LUMEN_FN uint4 lumen_read_once(const void* p) {
  uint4 v;
#ifdef LUMEN_EMULATED
  lumen_emulator::check_aligned(p, 16, __LINE__);
  v = *(const uint4*)p;
#else
  asm("ld.global.nc.L1::no_allocate.L2::128B.v4.u32 {%0, %1, %2, %3}, [%4];"
      : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(p));
#endif
  return v;
}

// The sum of what the warps of a block have put next to each other.
template <int count>
LUMEN_FN float lumen_add_up(const float* parts) {
  float all = parts[0];
  LUMEN_UNROLL for (int k = 1; k < count; ++k) all += parts[k];
  return all;
}

#ifndef LUMEN_EMULATED
// Of lines that leave the second cache after all others. Not hoisted: it is two registers.
LUMEN_FN unsigned long long lumen_to_be_kept(void) {
  unsigned long long policy;
  asm volatile("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
  return policy;
}
#endif

// Neighbours that begin at a multiple of their number, 16 bytes at a time where that can be; in lines that are `kept`.
template <int count, bool kept = false, class T>
LUMEN_FN void lumen_write(T* to, const T* x) {
  constexpr int wide = count * sizeof(T) % 16 == 0 ? count * sizeof(T) / 16 : 0;
#ifdef LUMEN_EMULATED
  if (wide > 0) lumen_emulator::check_aligned(to, 16, __LINE__);
#endif
  LUMEN_UNROLL for (int k = 0; k < wide; ++k) {
    uint32_t words[4];
    LUMEN_UNROLL for (int j = 0; j < 4; ++j) {
      const T* const four = (const T*)((const char*)x + 16 * k + 4 * j);
      if constexpr (sizeof(T) == 1) {
        words[j] = (uint8_t)four[0] | (uint8_t)four[1] << 8 | (uint8_t)four[2] << 16 | (uint32_t)(uint8_t)four[3] << 24;
      } else if constexpr (sizeof(T) == 2) {
        words[j] = (uint16_t)four[0] | (uint32_t)(uint16_t)four[1] << 16;
      } else {
        LUMEN_COPY(&words[j], four, 4);
      }
    }
#ifdef LUMEN_EMULATED
    memcpy((char*)to + 16 * k, words, 16);
#else
    if constexpr (kept) {
      asm volatile("st.L2::cache_hint.v4.u32 [%0], {%1, %2, %3, %4}, %5;"
                   :: "l"((char*)to + 16 * k), "r"(words[0]), "r"(words[1]), "r"(words[2]), "r"(words[3]),
                      "l"(lumen_to_be_kept()) : "memory");
    } else {
      asm volatile("st.v4.u32 [%0], {%1, %2, %3, %4};"
                   :: "l"((char*)to + 16 * k), "r"(words[0]), "r"(words[1]), "r"(words[2]), "r"(words[3]) : "memory");
    }
#endif
  }
  LUMEN_UNROLL for (int k = 0; k < (wide > 0 ? 0 : count); ++k) to[k] = x[k];
}

// The elements of 16 bytes.
template <class T>
LUMEN_FN void lumen_spread_bytes(T* x, uint4 v) {
  const uint32_t words[4] = {v.x, v.y, v.z, v.w};
  LUMEN_UNROLL for (int j = 0; j < (int)(16 / sizeof(T)); ++j) {
    if constexpr (sizeof(T) < 4) {
      x[j] = (T)(words[j * sizeof(T) / 4] >> j * sizeof(T) % 4 * 8);
    } else {
      LUMEN_COPY(x + j, words + j * sizeof(T) / 4, sizeof(T));
    }
  }
}

// The same, read.
template <int count, bool kept = false, class T>
LUMEN_FN void lumen_read(T* x, const T* from) {
  constexpr int wide = count * sizeof(T) % 16 == 0 ? count * sizeof(T) / 16 : 0, each = 16 / sizeof(T);
#ifdef LUMEN_EMULATED
  if (wide > 0) lumen_emulator::check_aligned(from, 16, __LINE__);
#endif
  LUMEN_UNROLL for (int k = 0; k < wide; ++k) {
    const uint4* const at = (const uint4*)((const char*)from + 16 * k);
#ifndef LUMEN_EMULATED
    if constexpr (kept) {
      uint4 v;
      asm volatile("ld.L1::evict_last.L2::cache_hint.v4.u32 {%0, %1, %2, %3}, [%4], %5;"
                   : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(at), "l"(lumen_to_be_kept()));
      lumen_spread_bytes(x + each * k, v);
      continue;
    }
#endif
    lumen_spread_bytes(x + each * k, *at);
  }
  LUMEN_UNROLL for (int k = 0; k < (wide > 0 ? 0 : count); ++k) x[k] = from[k];
}

// What a block reads of a row: all is on its way before anything waits for it. By the nearest cache: norms of 256 MiB
// take 128 us so, and 135 us by lumen_read_once.
template <int threads, bool kept, int turns, int width, class T>
LUMEN_FN void lumen_read_row(T (&x)[turns][width], const T* row, int64_t count) {
  LUMEN_UNROLL for (int turn = 0; turn < turns; ++turn) {
    const int first = (turn * threads + (int)threadIdx.x) * width;
    if ((turn + 1) * threads * width > count && first >= count) continue;
    lumen_read<width, kept>(x[turn], row + first);
  }
}

// The nearest number of at most 41 bits.
LUMEN_FN int64_t lumen_near_i64(int64_t x) {
  return lumen_max_i64(lumen_min_i64(x, (int64_t)1 << 40), -((int64_t)1 << 40));
}

// 16 bytes into shared memory, while the thread goes on; of which the first `bytes` are read and the others are 0.
LUMEN_FN void lumen_copy_async(void* to, const void* from, int bytes) {
#ifdef LUMEN_EMULATED
  lumen_emulator::check_aligned(to, 16, __LINE__);
  if (bytes > 0) lumen_emulator::check_aligned(from, 16, __LINE__);
  lumen_emulator::copy_later(to, from, bytes);
#else
  asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16, %2;"
               :: "r"((uint32_t)__cvta_generic_to_shared(to)), "l"(from), "r"(bytes) : "memory");
#endif
}
LUMEN_FN void lumen_commit_copies(void) {
#ifdef LUMEN_EMULATED
  lumen_emulator::commit_copies();
#else
  asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}
// Until all but the last `behind` commits are done.
template <int behind>
LUMEN_FN void lumen_wait_for_copies(void) {
#ifdef LUMEN_EMULATED
  lumen_emulator::finish_copies(behind);
#else
  asm volatile("cp.async.wait_group %0;" :: "n"(behind) : "memory");
#endif
}

LUMEN_FN void lumen_spread(uint4 v, float* to) {
  to[0] = lumen_from_bits_f32(v.x), to[1] = lumen_from_bits_f32(v.y);
  to[2] = lumen_from_bits_f32(v.z), to[3] = lumen_from_bits_f32(v.w);
}
LUMEN_FN void lumen_spread(uint4 v, uint32_t* to) { to[0] = v.x, to[1] = v.y, to[2] = v.z, to[3] = v.w; }
// The other way round, into shared memory.
LUMEN_FN void lumen_put_four(float* to, const float* x) { *(float4*)to = float4{x[0], x[1], x[2], x[3]}; }
LUMEN_FN void lumen_put_four(uint32_t* to, const uint32_t* x) { *(uint4*)to = uint4{x[0], x[1], x[2], x[3]}; }
// Words of 4 bytes from a place in shared memory that is a multiple of `align`: 16, 8, 4 or 2.
template <int align, int count>
LUMEN_FN void lumen_get_words(const void* p, uint32_t* to) {
#ifdef LUMEN_EMULATED
  lumen_emulator::check_aligned(p, align, __LINE__);
#endif
  if (align == 16) {
    LUMEN_UNROLL for (int w = 0; w < count; w += 4) lumen_spread(((const uint4*)p)[w / 4], to + w);
  } else if (align == 8) {
    LUMEN_UNROLL for (int w = 0; w < count; w += 2) {
      const uint2 two = ((const uint2*)p)[w / 2];
      to[w] = two.x, to[w + 1] = two.y;
    }
  } else if (align == 4) {
    LUMEN_UNROLL for (int w = 0; w < count; ++w) to[w] = ((const uint32_t*)p)[w];
  } else {
    const uint16_t* const halves = (const uint16_t*)p;
    LUMEN_UNROLL for (int w = 0; w < count; ++w) to[w] = halves[2 * w] | (uint32_t)halves[2 * w + 1] << 16;
  }
}
// 2^23 + a byte of a word, exactly: one instruction of a fast unit, where a conversion of integers is one of a slow unit.
LUMEN_FN float lumen_float_above(uint32_t word, int byte) {
#ifdef LUMEN_EMULATED
  return lumen_from_bits_f32(0x4b000000u | (word >> byte * 8 & 0xff));
#else
  return lumen_from_bits_f32(__byte_perm(word, 0x4b000000u, 0x7440 | byte));
#endif
}
template <class T>
LUMEN_FN void lumen_unpack_f32(uint4 v, T* to) {
  const uint32_t words[4] = {v.x, v.y, v.z, v.w};
  LUMEN_UNROLL for (int j = 0; j < 4; ++j) to[j] = (T)lumen_from_bits_f32(words[j]);
}
template <class T>
LUMEN_FN void lumen_unpack_bf16(uint4 v, T* to) {
  const uint32_t words[4] = {v.x, v.y, v.z, v.w};
  LUMEN_UNROLL for (int j = 0; j < 4; ++j) {
    to[2 * j] = (T)lumen_from_bits_f32(words[j] << 16);
    to[2 * j + 1] = (T)lumen_from_bits_f32(words[j] & 0xffff0000u);
  }
}
template <class T>
LUMEN_FN void lumen_unpack_f16(uint4 v, T* to) {
  const uint32_t words[4] = {v.x, v.y, v.z, v.w};
  LUMEN_UNROLL for (int j = 0; j < 8; ++j) to[j] = (T)lumen_load_f16((uint16_t)(words[j / 2] >> j % 2 * 16));
}
template <class T>
LUMEN_FN void lumen_unpack_i8(uint4 v, T* to) {
  const uint32_t words[4] = {v.x, v.y, v.z, v.w};
  LUMEN_UNROLL for (int j = 0; j < 16; ++j) to[j] = (T)(int8_t)(words[j / 4] >> j % 4 * 8);
}
template <class T>
LUMEN_FN void lumen_unpack_u8(uint4 v, T* to) {
  const uint32_t words[4] = {v.x, v.y, v.z, v.w};
  LUMEN_UNROLL for (int j = 0; j < 16; ++j) to[j] = (T)(uint8_t)(words[j / 4] >> j % 4 * 8);
}
template <class T>
LUMEN_FN void lumen_unpack_f8e4m3(uint4 v, T* to) {
  const uint32_t words[4] = {v.x, v.y, v.z, v.w};
  LUMEN_UNROLL for (int j = 0; j < 16; ++j) to[j] = (T)lumen_load_f8e4m3((uint8_t)(words[j / 4] >> j % 4 * 8));
}
template <class T>
LUMEN_FN void lumen_unpack_f8e5m2(uint4 v, T* to) {
  const uint32_t words[4] = {v.x, v.y, v.z, v.w};
  LUMEN_UNROLL for (int j = 0; j < 16; ++j) to[j] = (T)lumen_load_f8e5m2((uint8_t)(words[j / 4] >> j % 4 * 8));
}
)C";

}  // namespace lumen::cuda_text
