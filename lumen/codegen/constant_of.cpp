#include "lumen/codegen/constant_of.h"

#include "lumen/hlir/leaves.h"
#include "lumen/hlir/view.h"

namespace lumen {

NodeId behind_views(const Graph& graph, NodeId id) {
  while (graph[id].is<hlir::View>() && !graph[id].as<hlir::View>().view.has_guard()) id = graph[id].operands[0];
  return id;
}

std::optional<double> constant_of(const Graph& graph, NodeId id) {
  id = behind_views(graph, id);
  if (!graph[id].is<hlir::Constant>()) return std::nullopt;
  return graph[id].as<hlir::Constant>().value.as_double();
}

}  // namespace lumen
