// Few rows, and columns that are neighbours in memory: a thread sums as many of them as it reads at once, threads of a
// block take turns along the summed axis.
#pragma once

#include "lumen/codegen/cuda_contract_frame.h"

namespace lumen {

// `schedule.lanes` threads are along the columns; the tile has as many columns as they read at once, which is what
// sweep_columns() says.
Expected<CudaTileText> print_cuda_sweep(const ContractRoles& roles, const CudaContractSchedule& schedule);

// Columns that a thread reads at once.
int64_t sweep_columns(const ContractRoles& roles);

}  // namespace lumen
