// What the processor can do and how much of it this process may use, asked once at run time.
//
// Kernels are compiled for a Level and its extras, never for "native": the same program on a smaller machine picks a
// smaller level, and a test can say "as if" this were a smaller machine. Off x86-64 everything is Level::generic; on
// AArch64 that has vectors of 16 bytes, 32 registers of them, fused multiplication, and conversions of f16; `dotprod`
// is an extra.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "lumen/base/expected.h"

namespace lumen::cpu {

// Each has all that the ones before it have.
enum class Level : uint8_t {
  generic,  // what every processor of this architecture has
  avx2,     // and FMA, F16C
  avx512,   // F, BW, DQ, VL
  amx,      // tiles with bf16 and int8, and the kernel's permission to use them
};
std::string_view level_name(Level level);

struct CpuFeatures {
  std::string vendor;    // "GenuineIntel"; empty when unknown, like everything below
  std::string model;     // "Intel(R) Xeon(R) Processor"
  int family = 0;        // on AArch64 the architecture's number, as 8
  int model_number = 0;  // on AArch64 the part's
  int stepping = 0;      // on AArch64 16 * variant + revision

  int cores = 1;  // that this process may use: its affinity mask, less where a cgroup's quota is smaller
  int64_t l1d_bytes = 0;
  int64_t l2_bytes = 0;
  int64_t l3_bytes = 0;

  // The processor has it and the operating system saves its registers; AMX is asked for with arch_prctl, too.
  bool avx2 = false;
  bool avx512 = false;
  bool avx512_bf16 = false;
  bool avx512_fp16 = false;
  bool avx512_vnni = false;
  bool amx_tile = false;
  bool amx_bf16 = false;
  bool amx_int8 = false;
  bool dotprod = false;  // AArch64: products of bytes, added up four by four
  Level level = Level::generic;

  // This machine without what is above `wanted`; an error when that is above what it has.
  Expected<CpuFeatures> as_if(Level wanted) const;

  // Names the hardware in a database of timings: equal exactly when kernels and caches are alike. The number of cores
  // is not in it, because it changes from one run to the next; a timing states its threads itself.
  std::string fingerprint() const;
};

// This machine's, probed at the first call.
const CpuFeatures& cpu();

}  // namespace lumen::cpu
