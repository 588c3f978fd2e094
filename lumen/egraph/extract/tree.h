// Extraction by tree cost: the cost of a term is its node's plus its children's, a child that occurs twice is paid
// twice.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "lumen/egraph/extract/flat_graph.h"

namespace lumen::egraph {

// The cost of the terms of a node, given what its children cost (all finite). To be meaningful it must not fall when a
// child gets dearer; a result below the dearest child counts as that child's cost, NaN as kInfinite.
using CostFunction = std::function<Cost(const FlatGraph&, NodeId, std::span<const Cost> child_costs)>;

struct TreeOptions {
  CostFunction cost = {};              // empty: the node's cost plus the children's
  std::span<const uint8_t> free = {};  // by class, may be empty: classes that cost nothing to use and need no choice
};

// By class.
struct TreeExtraction {
  std::vector<Cost> cost;      // of its cheapest term; kInfinite: it has no finite term
  std::vector<NodeId> choice;  // the head of that term, kNone when there is none; following choices meets no cycle
};

// Minimal costs, and of the nodes that reach them the first, as the reference engine picks them: nodes are relaxed in
// order, round after round, until nothing improves, and a child must have got its cost before its parent did.
TreeExtraction tree_extract(const FlatGraph& graph, const TreeOptions& options = {});

// What a term costs whose head is `node` and whose children cost that.
Cost combine_costs(const FlatGraph& graph, NodeId node, std::span<const Cost> child_costs, const TreeOptions& options);

}  // namespace lumen::egraph
