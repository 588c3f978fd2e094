#include "lumen/codegen/single_op.h"

#include <fmt/format.h>

#include <optional>

namespace lumen {

Expected<NodeId> find_single(const Graph& body, const OpDef& op, std::string_view kind) {
  std::optional<NodeId> found;
  for (const NodeId id : body.order()) {
    if (body[id].op != &op) continue;
    if (found) return error(fmt::format("a {} kernel with more than one {}", kind, op.name));
    found = id;
  }
  if (!found) return error(fmt::format("a {} kernel without a {}", kind, op.name));
  return *found;
}

Expected<void> check_output_shapes(const Graph& body, std::string_view kind, const Shape& shape) {
  for (const Output& output : body.outputs()) {
    if (body[output.value].type.shape == shape) continue;
    return error(fmt::format("the outputs of a {} kernel are {}, but this is {}", kind, shape.str(),
                             body[output.value].type.shape.str()));
  }
  return {};
}

}  // namespace lumen
