// Products in which an index chooses the columns of each batch, as a token of a mixture does its experts: batches that
// chose the same are rows of one product, whose columns are read once.
//
// A step before sorts the batches by what they chose. It leaves in scratch, as 32-bit integers,
//   order    the batches, those of a group next to each other
//   tiles    for every tile of rows, none of which is of two groups: its first place in `order`, and that behind it
// Tiles that there are not, for groups are larger than the smallest could be, have no rows.
#pragma once

#include <optional>

#include "lumen/codegen/cuda_contract_factor.h"
#include "lumen/codegen/cuda_contract_frame.h"

namespace lumen {

// What an index depends on is of the batch.
Expected<ContractRoles> grouped_roles(const Graph& body);
// Nothing unless batches have one row, and their columns differ by one choice only.
std::optional<Choice> grouped_choice(const ContractRoles& roles);
// An error that says so.
Expected<void> check_grouped(const ContractRoles& roles, const CudaContractSchedule& schedule);

// The most tiles of rows that there are.
Expr grouped_tiles(const ContractRoles& roles, const CudaContractSchedule& schedule);
// Adds the step that sorts, which comes first, and its scratch.
Expected<void> add_groups(const Graph& body, const ContractRoles& roles, const std::string& name,
                          const CudaContractSchedule& schedule, KernelText& kernel);
// `order` and `tiles`, in a kernel after it.
std::string groups_text(const Graph& body, const ContractRoles& roles);

}  // namespace lumen
