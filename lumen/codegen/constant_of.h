// Which number a value is, whatever the element.
#pragma once

#include <optional>

#include "lumen/ir/graph.h"

namespace lumen {

// The node whose elements these are, whichever they are.
NodeId behind_views(const Graph& graph, NodeId id);

// What all elements are, where that is a Constant behind views.
std::optional<double> constant_of(const Graph& graph, NodeId id);

}  // namespace lumen
