// Attention on a GPU: the bodies of attention.h, by other methods.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lumen/codegen/kernel_text.h"
#include "lumen/ir/graph.h"
#include "lumen/kernel/target.h"

namespace lumen {

enum class CudaAttentionMethod : uint8_t {
  decode,  // few rows at a time: keys and values are read once, where they lie; any dtype
  flash,   // tiles of rows and keys, both products by the tensor cores: bf16 and f16
  groups,  // the same by products of four warps, 64 rows each, beside four warps that copy: on Hopper
};

// How attention runs: what does not change its meaning. Sizes are in elements.
struct CudaAttentionSchedule {
  CudaAttentionMethod method = CudaAttentionMethod::decode;
  int64_t rows = 0;     // of a block
  int64_t keys = 0;     // that are weighed at a time
  int64_t parts = 0;    // of the keys, each for a block of its own; 0 is 1
  int64_t threads = 0;  // of a block
  int64_t stages = 0;   // of keys and values in shared memory, where there is a choice

  bool operator==(const CudaAttentionSchedule&) const = default;
  // "gpu-decode rows=4 keys=64 parts=32 threads=256"
  std::string str() const;
  static Expected<CudaAttentionSchedule> parse(std::string_view text);
};

bool is_cuda_attention_schedule(std::string_view text);

// An error when the body is no such kernel, or the schedule does not fit it or the target.
Expected<KernelText> print_cuda_attention(const Graph& body, const std::string& name,
                                          const CudaAttentionSchedule& schedule, const Target& target);

// Schedules that print_cuda_attention accepts, the most promising first; an error says why the body is no such kernel.
Expected<std::vector<CudaAttentionSchedule>> cuda_attention_schedules(const Graph& body, const Target& target);

}  // namespace lumen
