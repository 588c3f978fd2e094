#include "lumen/codegen/cuda_text.h"

namespace lumen::cuda_text {

// Fragments as the instructions lay them out. Of lane 4*g + t:
//   a  16 x 16: rows g and g + 8 of the pairs 2t and 2t + 8     b  16 x 8: column g, rows 2t and 2t + 8 and the next
//   c  16 x 8: rows g and g + 8, columns 2t and 2t + 1
const char* const kMatrix = R"C(
// Four 8 x 8 matrices of 16-bit elements: lane l gives the address of row l % 8 of matrix l / 8.
LUMEN_FN void lumen_load_matrices(uint32_t* to, const void* row) {
#ifdef LUMEN_EMULATED
  lumen_emulator::check_aligned(row, 16, __LINE__);
  const auto rows = lumen_emulator::exchange(0xffffffffu, *(const uint4*)row, __LINE__);
  const int lane = threadIdx.x % 32;
  for (int m = 0; m < 4; ++m) to[m] = ((const uint32_t*)&rows[m * 8 + lane / 4])[lane % 4];
#else
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3]) : "r"((uint32_t)__cvta_generic_to_shared(row))
               : "memory");
#endif
}
// The same, each of them turned around.
LUMEN_FN void lumen_load_turned_matrices(uint32_t* to, const void* row) {
#ifdef LUMEN_EMULATED
  lumen_emulator::check_aligned(row, 16, __LINE__);
  const auto rows = lumen_emulator::exchange(0xffffffffu, *(const uint4*)row, __LINE__);
  const int lane = threadIdx.x % 32;
  for (int m = 0; m < 4; ++m) {
    const uint32_t low = ((const uint16_t*)&rows[m * 8 + lane % 4 * 2])[lane / 4];
    const uint32_t high = ((const uint16_t*)&rows[m * 8 + lane % 4 * 2 + 1])[lane / 4];
    to[m] = low | high << 16;
  }
#else
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3]) : "r"((uint32_t)__cvta_generic_to_shared(row))
               : "memory");
#endif
}
#ifdef LUMEN_EMULATED
struct LumenFragments {
  uint32_t a[4], b[2];
};
template <class Load>
void lumen_multiply(float* c, const uint32_t* a, const uint32_t* b, Load load) {
  const LumenFragments mine = {{a[0], a[1], a[2], a[3]}, {b[0], b[1]}};
  const auto all = lumen_emulator::exchange(0xffffffffu, mine, __LINE__);
  const int lane = threadIdx.x % 32;
  for (int j = 0; j < 4; ++j) {
    const int row = lane / 4 + j / 2 * 8, column = lane % 4 * 2 + j % 2;
    for (int k = 0; k < 16; ++k) {
      const uint32_t x = all[row % 8 * 4 + k % 8 / 2].a[row / 8 + k / 8 * 2] >> k % 2 * 16;
      const uint32_t y = all[column * 4 + k % 8 / 2].b[k / 8] >> k % 2 * 16;
      c[j] += load((uint16_t)x) * load((uint16_t)y);
    }
  }
}
#endif
// Two numbers, rounded, the first one in the low half.
LUMEN_FN uint32_t lumen_pack_bf16(float low, float high) {
#ifdef LUMEN_EMULATED
  return lumen_store_bf16(low) | (uint32_t)lumen_store_bf16(high) << 16;
#else
  uint32_t both;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(high), "f"(low));
  return both;
#endif
}
LUMEN_FN uint32_t lumen_pack_f16(float low, float high) {
#ifdef LUMEN_EMULATED
  return lumen_store_f16(low) | (uint32_t)lumen_store_f16(high) << 16;
#else
  uint32_t both;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(high), "f"(low));
  return both;
#endif
}
// c += a * b
LUMEN_FN void lumen_multiply_bf16(float* c, const uint32_t* a, const uint32_t* b) {
#ifdef LUMEN_EMULATED
  lumen_multiply(c, a, b, [](uint16_t x) { return lumen_load_bf16(x); });
#else
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#endif
}
LUMEN_FN void lumen_multiply_f16(float* c, const uint32_t* a, const uint32_t* b) {
#ifdef LUMEN_EMULATED
  lumen_multiply(c, a, b, [](uint16_t x) { return lumen_load_f16(x); });
#else
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#endif
}
)C";

}  // namespace lumen::cuda_text
