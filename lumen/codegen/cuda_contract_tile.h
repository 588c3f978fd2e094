// Tiles of single elements: factors of any kind in shared memory, a few rows and columns of sums to each thread.
#pragma once

#include "lumen/codegen/cuda_contract_frame.h"

namespace lumen {

Expected<CudaTileText> print_cuda_tile(const ContractRoles& roles, const CudaContractSchedule& schedule);

}  // namespace lumen
