#include "lumen/backend/cpu/target.h"

namespace lumen::cpu {

Target target_of(const CpuFeatures& features) {
  Target target;
  target.vector_bytes = features.avx512 ? 64 : features.avx2 ? 32 : 16;
#if defined(__aarch64__)
  target.vector_registers = 32;
  target.lane_products = true;
#else
  target.vector_registers = features.avx512 ? 32 : 16;
#endif
  target.avx512 = features.avx512;
  target.avx512_bf16 = features.avx512_bf16;
  target.avx512_fp16 = features.avx512_fp16;
  target.avx512_vnni = features.avx512_vnni;
  target.amx_bf16 = features.amx_bf16;
  target.amx_int8 = features.amx_int8;
  target.dotprod = features.dotprod;
  if (features.l1d_bytes > 0) target.l1_bytes = features.l1d_bytes;
  if (features.l2_bytes > 0) target.l2_bytes = features.l2_bytes;
  if (features.l3_bytes > 0) target.l3_bytes = features.l3_bytes;
  return target;
}

}  // namespace lumen::cpu
