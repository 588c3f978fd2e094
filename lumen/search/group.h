// Grouping: which nodes of a graph run together as one kernel.
//
// Every op that computes is in exactly one group. Views, constants and iotas are free: whoever reads them computes
// them, so they are in as many groups as need them, and in a group of their own when they are an output.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "lumen/ir/graph.h"

namespace lumen::search {

enum class FusionPolicy : uint8_t {
  never,    // every op is a kernel
  always,   // whatever can be one kernel is one
  profile,  // whatever is faster as one kernel, by measurement
};

// Whether a part of the graph can be, and is to be, one kernel that gives these results.
using Accepts = std::function<bool(std::span<const NodeId> part, std::span<const NodeId> results)>;

// Parts for carve_all. `merge` is asked about unions of groups only; it must not depend on the order of its arguments.
std::vector<std::vector<NodeId>> group(const Graph& graph, const Accepts& merge);

bool is_free(const Node& node);

}  // namespace lumen::search
