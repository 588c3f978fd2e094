// What this machine can do at most, measured: the rates that a case's own are shares of.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "bench/suite/limit_kernels.h"
#include "lumen/backend/buffer.h"
#include "lumen/backend/cpu/compiler.h"
#include "lumen/base/expected.h"
#include "lumen/base/thread_pool.h"
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
  double bf16_flops = 0;  // AMX, tensor cores
  double f16_flops = 0;   // tensor cores
  double i8_flops = 0;    // AMX

  // Of the copy whose size is nearest, as a ratio.
  double copy_rate(double bytes) const;
  // Of the unit that multiplies matrices of this dtype fastest with the accuracy that is asked for.
  double matrix_rate(DType dtype) const;
};

// Takes about half a second.
Expected<Limits> measure_limits(const cpu::Compiler& compiler, ThreadPool& pool);

// The same as trials that take turns with those of a case: other users of the machine change what it can do from one
// second to the next, so a share of a limit is one of a limit at the same time.
class LimitTrials {
 public:
  static Expected<LimitTrials> make(const cpu::Compiler& compiler, ThreadPool& pool);

  // Seconds of one copy that moves `bytes` in all, in the fastest way: the mean of `runs` after one that is not
  // counted.
  double copy(int64_t bytes, int64_t runs);
  // Seconds of so many multiplications and additions by the unit that multiplies matrices of bf16 or i8 fastest; 0
  // where the machine has none.
  double tiles(DType dtype, double flops, int64_t runs) const;

 private:
  LimitTrials(std::shared_ptr<cpu::Library> vector, std::shared_ptr<cpu::Library> matrix, CopyFunction* copy_function,
              TilesFunction* tiles_function, ThreadPool& pool)
      : libraries_{std::move(vector), std::move(matrix)}, copy_(copy_function), tiles_(tiles_function), pool_(&pool) {}
  double copies(int way, int64_t share, int64_t runs) const;

  std::array<std::shared_ptr<cpu::Library>, 2> libraries_;
  CopyFunction* copy_;
  TilesFunction* tiles_;  // null: none
  ThreadPool* pool_;
  Buffer from_, to_;
  int way_ = 0;
};

}  // namespace lumen::bench
