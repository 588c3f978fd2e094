// Selections: programs in which a class is computed once, however often it is used.
#pragma once

#include <span>
#include <vector>

#include "lumen/egraph/extract/flat_graph.h"

namespace lumen::egraph {

struct Selection {
  // By class: the node that computes it; kNone for classes that the roots do not need. No cycles.
  std::vector<NodeId> choice;
  Cost cost = kInfinite;  // of the chosen nodes, each once; kInfinite: some root cannot be extracted, no choices
  bool optimal = false;   // proved: no selection costs less
};

// The classes that the roots need under `choice` (by class, kNone: none), each after all that it needs. Empty when
// there is a cycle or a class without a choice among them.
std::vector<ClassId> needed_classes(const FlatGraph& graph, std::span<const ClassId> roots,
                                    std::span<const NodeId> choice);

// `choice` with only what the roots need, and its cost.
Selection select_needed(const FlatGraph& graph, std::span<const ClassId> roots, std::span<const NodeId> choice);

// The part of a graph that a program for the roots could use: classes that can be reached and extracted, of their nodes
// those that can be part of a program, children without repeats. Programs are the same as in the whole graph.
struct Reduced {
  FlatGraph graph;
  std::vector<ClassId> roots;  // without repeats
  std::vector<ClassId> original_class;
  std::vector<NodeId> original_node;
  bool possible = true;  // all roots can be extracted

  // A selection of the reduced graph as one of the original graph.
  Selection expand(const FlatGraph& original, const Selection& selection) const;
};
// `banned`: by node, may be empty; nodes that must not be used.
Reduced reduce(const FlatGraph& graph, std::span<const ClassId> roots, const std::vector<bool>& banned = {});

}  // namespace lumen::egraph
