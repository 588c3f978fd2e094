#include "lumen/codegen/contract.h"

#include <fmt/format.h>

#include "lumen/codegen/contract_gemm.h"
#include "lumen/codegen/contract_roles.h"
#include "lumen/codegen/contract_skinny.h"
#include "lumen/codegen/contract_windows.h"

namespace lumen {

Expected<KernelText> print_contract(const Graph& body, const std::string& name, const ContractSchedule& schedule,
                                    const Target& target) {
  const ContractRoles roles = LUMEN_TRY(contract_roles(body, schedule.swap != 0));
  const bool skinny = schedule.method == ContractMethod::dot || schedule.method == ContractMethod::sweep;
  if (schedule.past != 0 && (skinny || schedule.method == ContractMethod::windows)) {
    return error(fmt::format("only blocks of tiles store past the caches, not \"{}\"", schedule.str()));
  }
  if (skinny) return print_skinny(body, roles, name, schedule);
  if (schedule.method == ContractMethod::windows) return print_windows(body, roles, name, schedule, target);
  return print_gemm(body, roles, name, schedule, target);
}

}  // namespace lumen
