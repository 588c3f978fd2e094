// The packed product: columns are packed once for all threads, rows by each thread a block at a time, and tiles of the
// result go through the epilogue when their last products are added.
#pragma once

#include "lumen/codegen/contract.h"
#include "lumen/codegen/contract_roles.h"

namespace lumen {

Expected<KernelText> print_gemm(const Graph& body, const ContractRoles& roles, const std::string& name,
                                const ContractSchedule& schedule, const Target& target);

}  // namespace lumen
