// Products of the tensor cores: tiles of bf16 or f16 factors in shared memory, in several stages, of which one is
// multiplied while the next ones are on their way.
#pragma once

#include <optional>

#include "lumen/codegen/cuda_contract_frame.h"

namespace lumen {

// bf16 or f16 when all factors are, or were before they were widened.
std::optional<DType> mma_dtype(const ContractRoles& roles);

// The summed axis may be cut at multiples of `schedule.summed` only.
Expected<CudaTileText> print_cuda_mma(const ContractRoles& roles, const CudaContractSchedule& schedule);

}  // namespace lumen
