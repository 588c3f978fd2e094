// Products with few rows: every element of the columns' side is read once and used at once, so nothing of it is packed.
//
//   dot    it lies along the summed axis: each result is one long sum, a few columns at a time
//   sweep  it lies along the columns: each summed coordinate adds to all columns of a block, a few at a time
#pragma once

#include "lumen/codegen/contract.h"
#include "lumen/codegen/contract_roles.h"

namespace lumen {

Expected<KernelText> print_skinny(const Graph& body, const ContractRoles& roles, const std::string& name,
                                  const ContractSchedule& schedule);

// The best `blocks` of a dot with these roles and the schedule's `wide`: 0 when columns are no scaled integers.
int64_t best_blocks(const ContractRoles& roles, const ContractSchedule& schedule);

}  // namespace lumen
