// The op that a kernel of its own kind is about.
#pragma once

#include <fmt/format.h>

#include <string_view>

#include "lumen/ir/graph.h"

namespace lumen {

// The one node of this op in the body; an error when there is none, or another.
template <class Op>
Expected<NodeId> find_single(const Graph& body, std::string_view kind) {
  std::optional<NodeId> found;
  for (const NodeId id : body.order()) {
    if (!body[id].is<Op>()) continue;
    if (found) return error(fmt::format("a {} kernel with more than one {}", kind, Op::kName));
    found = id;
  }
  if (!found) return error(fmt::format("a {} kernel without a {}", kind, Op::kName));
  return *found;
}

// An error unless every output has this shape: outputs are computed element by element of what the op gives.
inline Expected<void> check_output_shapes(const Graph& body, std::string_view kind, const Shape& shape) {
  for (const Output& output : body.outputs()) {
    if (body[output.value].type.shape == shape) continue;
    return error(fmt::format("the outputs of a {} kernel are {}, but this is {}", kind, shape.str(),
                             body[output.value].type.shape.str()));
  }
  return {};
}

}  // namespace lumen
