#include "lumen/codegen/contract.h"

#include "lumen/codegen/contract_gemm.h"
#include "lumen/codegen/contract_roles.h"

namespace lumen {

Expected<KernelText> print_contract(const Graph& body, const std::string& name, const ContractSchedule& schedule,
                                    const Target& target) {
  const ContractRoles roles = LUMEN_TRY(contract_roles(body));
  return print_gemm(body, roles, name, schedule, target);
}

}  // namespace lumen
