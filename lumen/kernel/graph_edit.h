// Making one graph of another by leaving things out: the steps of reduce_graph.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <vector>

#include "lumen/ir/graph.h"

namespace lumen {

struct GraphEdit {
  std::vector<NodeId> outputs;       // by output: its value; what is not needed for them goes
  std::vector<bool> kept;            // by output
  std::set<NodeId> become_inputs;    // nodes that are given from outside
  std::map<NodeId, NodeId> instead;  // a node in whose place an earlier one of the same type is used

  // That changes nothing.
  explicit GraphEdit(const Graph& graph);
};

// Null when the result would not be a graph of llir_stage(). Inputs and dims that are not needed are gone; an output
// that moved updates no state.
std::shared_ptr<const Graph> edited(const Graph& graph, const GraphEdit& edit);

// Graphs like this one with some size, or some symbolic dim, made smaller; those that are not valid are left out.
std::vector<std::shared_ptr<const Graph>> with_smaller_sizes(const Graph& graph);

}  // namespace lumen
