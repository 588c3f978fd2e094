// From an EGraph to the FlatGraph of what can be extracted from it.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <functional>
#include <span>
#include <vector>

#include "lumen/egraph/core/egraph.h"
#include "lumen/egraph/extract/flat_graph.h"
#include "lumen/egraph/extract/term.h"

namespace lumen::egraph {

struct TypedValue {
  SortId sort = 0;
  Value value = 0;
};

struct FlattenOptions {
  // What will be extracted: only tables that their terms could use are read, those of their sorts first. Empty: all.
  std::vector<TypedValue> roots = {};
  // Of a row, given its table and columns (arguments, result); empty: the table's cost.
  std::function<Cost(TableId, std::span<const Value>)> row_cost = {};
  Cost base_cost = 1;  // of a base value
};

// Rows of extractable constructors that are not subsumed are nodes, table by table in the order of declaration and rows
// in the order of insertion. Base values are leaves, containers cost nothing beside their elements.
struct Flattened {
  FlatGraph graph;
  std::vector<ClassId> roots;  // of the options

  // The class of a value (any that find() maps to the same); kNone when no term mentions it.
  ClassId class_of(const EGraph& egraph, SortId sort, Value value) const;

  // By sort: classes by id for eq sorts, by value for the others.
  std::vector<std::vector<ClassId>> ids;
  std::vector<boost::unordered_flat_map<Value, ClassId>> values;
};

// Of a rebuilt e-graph.
Flattened flatten(EGraph& egraph, const FlattenOptions& options = {});

// Terms as the language writes them.
NodeNamer egraph_names(const EGraph& egraph, const FlatGraph& graph);

// A container value's term, given those of its elements.
TermId container_term_of(Terms& terms, const EGraph& egraph, SortId sort, Value value,
                         std::span<const TermId> elements);

}  // namespace lumen::egraph
