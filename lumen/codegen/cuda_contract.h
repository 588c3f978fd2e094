// Contract kernels for a GPU: the bodies of contract.h, by other methods. A block computes a tile of results, and of
// each Contract the same one; its sums meet in shared memory, where the epilogue finds them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lumen/codegen/kernel_text.h"
#include "lumen/ir/graph.h"
#include "lumen/kernel/target.h"

namespace lumen {

enum class CudaContractMethod : uint8_t {
  tile,     // register tiles of single elements, for every dtype
  dot,      // few rows: a warp sums a few columns, each along the summed axis
  blocks,   // the same where columns are quantised blocks: their bytes are copied to shared memory first
  sweep,    // few rows: a thread sums neighbouring columns
  mma,      // products of the tensor cores: bf16 and f16
  grouped,  // the same of batches that chose the same columns (cuda_contract_grouped.h)
};

// How a Contract runs: what does not change its meaning. Sizes are in elements, if not said otherwise.
struct CudaContractSchedule {
  CudaContractMethod method = CudaContractMethod::tile;
  int64_t rows = 0, columns = 0;  // of the tile of a block
  int64_t summed = 0;             // coordinates whose factors are in shared memory at a time
  int64_t threads = 0;            // of a block
  int64_t parts = 0;              // of the summed axis, each for a block of its own; 0 is 1
  int64_t lanes = 0;              // columns of a warp that dots, threads along the columns that sweep, warps along rows
  int64_t ahead = 0;              // loads, or stages, that are under way at a time
  int64_t wide = 0;               // 1: columns are multiplied as they were before they were rounded to a narrower float

  bool operator==(const CudaContractSchedule&) const = default;
  // "gpu-dot rows=1 columns=16 summed=4096 threads=256 lanes=2 ahead=4"
  std::string str() const;
  static Expected<CudaContractSchedule> parse(std::string_view text);
};

bool is_cuda_contract_schedule(std::string_view text);

// An error when the body is no such kernel, or the schedule does not fit it or the target.
Expected<KernelText> print_cuda_contract(const Graph& body, const std::string& name,
                                         const CudaContractSchedule& schedule, const Target& target);

// Schedules that print_cuda_contract accepts, the most promising first; none when the body is no such kernel.
std::vector<CudaContractSchedule> cuda_contract_schedules(const Graph& body, const Target& target);

}  // namespace lumen
