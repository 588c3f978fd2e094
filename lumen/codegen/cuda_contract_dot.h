// Few rows: the rows are in shared memory, and each element of the columns is read once, from where it lies, by the
// warp that sums its column.
#pragma once

#include "lumen/codegen/cuda_contract_frame.h"

namespace lumen {

Expected<CudaTileText> print_cuda_dot(const ContractRoles& roles, const CudaContractSchedule& schedule,
                                      const Target& target);

}  // namespace lumen
