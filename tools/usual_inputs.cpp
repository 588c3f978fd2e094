#include "tools/usual_inputs.h"

#include "lumen/backend/program.h"
#include "lumen/ir/random_tensor.h"
#include "tools/run_arguments.h"

namespace lumen::tools {

Expected<DimValues> usual_dims(std::span<const std::string> texts, const Graph& graph) {
  DimValues dims = LUMEN_TRY(parse_dims(texts, graph));
  const DimValues usual = typical_dims(graph);
  for (const Expr& dim : graph.dims()) {
    if (!dims.get(dim.dim_name())) dims.set(dim.dim_name(), *usual.get(dim.dim_name()));
  }
  return dims;
}

void fill_inputs(Session& session, const DimValues& dims) {
  const Graph& graph = session.graph();
  for (const Expr& dim : graph.dims()) session.set_dim(dim.dim_name(), *dims.get(dim.dim_name()));
  for (const NodeId id : graph.inputs()) {
    const Input& input = graph[id].as<Input>();
    if (input.kind == InputKind::state) continue;
    std::vector<std::byte> bytes(static_cast<size_t>(graph[id].type.bytes(dims).value()));
    fill_random(input.dtype, bytes, static_cast<int64_t>(id));
    session.set_bytes(input.name.str(), bytes);
  }
}

}  // namespace lumen::tools
