// Few rows, and columns in quantised blocks, which are of no size that wide loads could read: warps copy the bytes of
// their columns to shared memory, whole lines at a time and several stages ahead, and lanes take blocks from there.
#pragma once

#include "lumen/codegen/cuda_contract_frame.h"

namespace lumen {

// `schedule.ahead` stages of a warp are under way at a time.
Expected<CudaTileText> print_cuda_blocks(const ContractRoles& roles, const CudaContractSchedule& schedule,
                                         const Target& target);

// What a schedule needs to know of such columns: summed coordinates of a stage, and bytes of it in all columns of a
// lane, one for each side. Nothing when the columns are not such.
struct BlocksStage {
  int64_t elements = 0, bytes = 0;
};
std::optional<BlocksStage> blocks_stage(const ContractRoles& roles, bool wide);

// Blocks of so many bytes of shared memory that a multiprocessor has at a time.
int64_t blocks_at_once(const Target& target, int64_t shared, int64_t threads);

}  // namespace lumen
