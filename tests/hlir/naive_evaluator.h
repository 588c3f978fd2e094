// Runs a graph in the plainest way: every node whole, one after another, by its own meaning. What the interpreter,
// which stores little and walks in lines, is checked against.
#pragma once

#include <span>
#include <vector>

#include "lumen/ir/graph.h"

namespace lumen::testing {

Expected<std::vector<HostTensor>> evaluate_naively(const Graph& graph, std::span<const HostTensor* const> inputs,
                                                   const DimValues& dims);

}  // namespace lumen::testing
