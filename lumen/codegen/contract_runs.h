// Runs along the summed axis of a Contract. Weights in quantised blocks divide the summed coordinate: by the size of a
// block to find it, and by parts of that size within it. Compilers cannot see that neighbours lie evenly between two
// blocks, so loops are printed in runs. Several of them may be one turn of the outer loop, each with text of its own:
//   i3 = length * (turns * i4 + turn) + i5      i5 is the variable of the inner loop
#pragma once

#include <optional>
#include <vector>

#include "lumen/codegen/contract_roles.h"

namespace lumen {

struct SummedRuns {
  int64_t length = 0;                    // length * turns.size() divides the extent of the summed axis
  std::vector<std::vector<Expr>> turns;  // coordinates in the domain, over i0, i1, i2, i4 and i5
};

// The longest runs in which every index that the factor needs grows evenly; nothing when the summed coordinate is not
// divided anyway, or no such run is worth a loop.
std::optional<SummedRuns> summed_runs(const ContractRoles& roles, const Graph& graph, NodeId factor);

// Runs of this length, so many a turn, whatever lies in them. length * turns divides the extent of the summed axis.
SummedRuns runs_of(const ContractRoles& roles, int64_t length, int64_t turns);

}  // namespace lumen
