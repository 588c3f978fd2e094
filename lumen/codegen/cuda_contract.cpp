#include "lumen/codegen/cuda_contract.h"

#include <fmt/format.h>

#include "lumen/codegen/cuda_contract_blocks.h"
#include "lumen/codegen/cuda_contract_dot.h"
#include "lumen/codegen/cuda_contract_frame.h"
#include "lumen/codegen/cuda_contract_grouped.h"
#include "lumen/codegen/cuda_contract_mma.h"
#include "lumen/codegen/cuda_contract_row_sums.h"
#include "lumen/codegen/cuda_contract_sweep.h"
#include "lumen/codegen/cuda_contract_tile.h"

namespace lumen {

namespace {

Expected<CudaTileText> print_tile(const ContractRoles& roles, const CudaContractSchedule& schedule,
                                  const Target& target) {
  switch (schedule.method) {
    case CudaContractMethod::tile:
      return print_cuda_tile(roles, schedule);
    case CudaContractMethod::dot:
      return print_cuda_dot(roles, schedule, target);
    case CudaContractMethod::blocks:
      return print_cuda_blocks(roles, schedule, target);
    case CudaContractMethod::sweep:
      return print_cuda_sweep(roles, schedule);
    case CudaContractMethod::mma:
      break;
    case CudaContractMethod::grouped:
      LUMEN_TRY(check_grouped(roles, schedule));
      break;
  }
  return print_cuda_mma(roles, schedule);
}

constexpr int64_t kMostBlockThreads = 1024;

}  // namespace

Expected<KernelText> print_cuda_contract(const Graph& body, const std::string& name,
                                         const CudaContractSchedule& schedule, const Target& target) {
  const bool grouped = schedule.method == CudaContractMethod::grouped;
  const ContractRoles roles = LUMEN_TRY(grouped ? grouped_roles(body) : contract_roles(body));
  if (schedule.threads <= 0 || schedule.threads % 32 != 0 || schedule.threads > kMostBlockThreads) {
    return error(fmt::format("blocks of {} threads, as the schedule \"{}\" wants", schedule.threads, schedule.str()));
  }
  LUMEN_TRY(RowSums::check(roles, schedule));
  const CudaTileText tile = LUMEN_TRY(print_tile(roles, schedule, target));
  KernelText kernel = LUMEN_TRY(frame_contract(body, roles, name, schedule, tile));
  for (const KernelStep& step : kernel.steps) {
    if (step.shared <= target.shared_bytes) continue;
    return error(fmt::format("a block has {} bytes of shared memory, but the schedule \"{}\" needs {}",
                             target.shared_bytes, schedule.str(), step.shared));
  }
  return kernel;
}

}  // namespace lumen
