// The reference interpreter: runs a graph of primitives by their meanings. The oracle for everything else.
//
// Elementwise values with one user, views and iotas are never stored whole (tape.h); what a view, a gather, a sort, a
// loop or several users read is, until its last user is done.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "lumen/ir/graph.h"

namespace lumen {

// The outputs in declared order. `inputs` are the graph's, in declared order; their dtypes and dims are checked.
Expected<std::vector<HostTensor>> interpret(const Graph& graph, std::span<const HostTensor* const> inputs,
                                            const DimValues& dims);

}  // namespace lumen
