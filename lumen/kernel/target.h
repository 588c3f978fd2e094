// Target: what a machine offers to the code that is printed for it. Schedules are chosen for a Target; texts that a
// Target cannot run are never proposed for it.
#pragma once

#include <cstdint>

namespace lumen {

struct Target {
  int vector_bytes = 16;  // of one register
  int vector_registers = 16;
  bool lane_products = false;  // a vector is multiplied by one lane of another in one instruction
  bool avx512 = false;         // F, BW, DQ, VL
  bool avx512_bf16 = false;    // dot products of pairs
  bool avx512_fp16 = false;
  bool avx512_vnni = false;
  bool amx_bf16 = false;
  bool amx_int8 = false;
  bool dotprod = false;  // AArch64: products of bytes, added up four by four
  int64_t l1_bytes = 32 << 10;
  int64_t l2_bytes = 1 << 20;
  int64_t l3_bytes = 8 << 20;

  bool library = false;  // there is one that multiplies matrices: OpenBLAS, cuBLASLt

  bool cuda = false;  // a GPU: texts are CUDA C, and nothing above but the last cache holds
  int sm = 0;         // its compute capability, as 90
  int multiprocessors = 0;
  int64_t shared_bytes = 48 << 10;  // that a block can have
};

}  // namespace lumen
