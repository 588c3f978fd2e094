// The innermost loop of products with few rows whose columns are scales times small integers (contract_scaled.h).
#pragma once

#include <span>

#include "lumen/codegen/contract_scaled.h"
#include "lumen/codegen/contract_skinny_frame.h"

namespace lumen {

// Of all sides; nothing when one is no scaled integers, or has other blocks than the first.
std::optional<std::vector<ScaledRuns>> scaled_columns(const ContractRoles& roles, std::span<const FactorIn> columns);

// The sums of `count` columns of a side. `messages` gets those of the faults.
Expected<std::string> blocks_loop(const SkinnyFrame& frame, size_t side, const ScaledRuns& runs, int64_t count,
                                  std::vector<std::string>& messages);

}  // namespace lumen
