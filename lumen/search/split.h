// Splitting: groups that are faster as two kernels than as one.
#pragma once

#include <vector>

#include "lumen/search/group.h"
#include "lumen/search/tune.h"

namespace lumen::search {

// Where a group computes something more often than needed (an operand of a contraction, what is repeated by a view), or
// goes on after a reduction, it may be cut there: the values are stored once. Cuts that the tuner finds faster are
// made.
Expected<void> split_slow_groups(const Reads& reads, Tuner& tuner, std::vector<Group>& groups);

}  // namespace lumen::search
