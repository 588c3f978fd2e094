// What this machine can do at most, measured: the rates that a case's own are shares of.
#pragma once

#include <vector>

#include "lumen/backend/cpu/compiler.h"
#include "lumen/backend/cpu/thread_pool.h"
#include "lumen/base/expected.h"
#include "lumen/ir/dtype.h"

namespace lumen::bench {

// Bytes read and written per second by a copy that moves `bytes` in all, over and over: small ones stay in caches.
struct CopyRate {
  double bytes = 0;
  double rate = 0;
};

struct Limits {
  int threads = 1;
  std::vector<CopyRate> copies;  // by rising bytes
  // Multiplications and additions per second; 0 where the machine has no such unit.
  double f32_flops = 0;   // fused multiply-adds of the vector units
  double bf16_flops = 0;  // AMX
  double i8_flops = 0;    // AMX

  // Of the copy whose size is nearest, as a ratio.
  double copy_rate(double bytes) const;
  // Of the unit that multiplies matrices of this dtype fastest with the accuracy that is asked for.
  double matrix_rate(DType dtype) const;
};

// Takes about half a second.
Expected<Limits> measure_limits(const cpu::Compiler& compiler, cpu::ThreadPool& pool);

}  // namespace lumen::bench
