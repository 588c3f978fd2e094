// Norms that are no kernels: sums of rows that every contraction, attention or scatter which needs them makes itself.
//
//   s = sum(x * x)   y = x / sqrt(s) * g   q = y @ wq   k = y @ wk        x is stored, q and k are kernels
//
// Between two contractions with few rows a norm takes longer to start than to compute, and whoever multiplies a row
// reads all of it. A norm that is left to its readers is like a view: in as many kernels as need it, and in none of its
// own.
#pragma once

#include <vector>

#include "lumen/search/group.h"

namespace lumen::search {

// Whether a value is a sum of each of few rows.
bool is_row_sum(const Graph& graph, NodeId id);

// For each sum of squares of few rows that no output needs: the sum, its squares, and what is computed of the sum and
// the row it is of.
std::vector<std::vector<NodeId>> row_norms(const Reads& reads);

// Whether every group that has a reduction because it is left to readers multiplies or scatters, and is one kernel.
bool serve_row_norms(const Reads& reads, std::span<const Group> groups, const Accepts& accepts);

}  // namespace lumen::search
