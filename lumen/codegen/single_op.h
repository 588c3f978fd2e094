// The op that a kernel of its own kind is about.
#pragma once

#include <string_view>

#include "lumen/ir/graph.h"

namespace lumen {

// The one node of this op in the body; an error when there is none, or another.
Expected<NodeId> find_single(const Graph& body, const OpDef& op, std::string_view kind);

// An error unless every output has this shape: outputs are computed element by element of what the op gives.
Expected<void> check_output_shapes(const Graph& body, std::string_view kind, const Shape& shape);

}  // namespace lumen
