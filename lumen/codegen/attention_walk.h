// Where the elements of a value come from: through elementwise ops the coordinates stay, through views they change.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <vector>

#include "lumen/codegen/element.h"
#include "lumen/ir/graph.h"

namespace lumen {

// An element of a node.
struct Element {
  NodeId node{};
  std::vector<Expr> at;
  bool operator<(const Element& o) const;
  bool operator==(const Element& o) const { return node == o.node && at == o.at; }
};

// The element of `target` that an element is computed from, directly: reductions and contractions are not looked into.
// Nothing when it is not, or when it is more than one; what views guard may be the fill instead, so that counts as
// several.
std::optional<std::vector<Expr>> source_place(const Graph& graph, const Element& from, NodeId target);

// An element as a sum of others with constant factors, as far as Add and Mul by a constant go.
struct LinearForm {
  std::map<Element, double> terms;
  double constant = 0;
};
LinearForm linear_form(const Graph& graph, const Element& from);

}  // namespace lumen
