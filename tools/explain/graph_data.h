// A graph as the page draws it.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "lumen/ir/graph.h"

namespace lumen::tools {

// What is known of a node beside what the graph says; keys are those of the page's script.
using NodeNotes = std::function<void(NodeId id, size_t position, nlohmann::json& node)>;

// {"nodes": [{op, type, fields, in, out, …}]} in the graph's order; `in` are positions in it, `out` names of outputs.
nlohmann::json graph_data(const Graph& graph, const NodeNotes& notes);

}  // namespace lumen::tools
