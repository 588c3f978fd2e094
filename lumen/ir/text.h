// The text of a graph. Equal graphs print equal bytes, and what is printed reads back to an equal graph.
//
//   lumen 1
//   dim seq 1..8192
//   %0 = Input() :name "x" :kind data :dtype f32 :shape [seq,64] -> f32[seq,64]
//   %1 = View(%0) :view {[64,seq] i0 + 64*i1} -> f32[64,seq]
//   %2 = SumReduce(%1) :axis 1 -> f32[64]
//   output "y" = %2
//
// Nodes are numbered in Graph::order(). A body is a graph in braces, without the first line, that declares the dims it
// uses. `output "s" = %2 updates %0` names the state input that the output aliases. Names of nodes written by hand are
// any letters, digits, _ and . ; the type after -> is checked against what inference says; it and fields at their
// default may be left out. `#` starts a comment. Lines may be broken anywhere but inside an expression or a string.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "lumen/ir/graph.h"

namespace lumen {

std::string print(const Graph& graph);

// What a text says of a node, `%name = …`. Statements that say the same make one node.
struct Statement {
  NodeId node;
  std::string name;  // without the %
  uint32_t line;
};

// Diags carry file:line:col and the offending line as a note. `statements` gets those outside of bodies, as they stand.
Expected<std::shared_ptr<Graph>> parse(std::string_view text, const OpTable& ops, std::string_view file = "<text>",
                                       std::vector<Statement>* statements = nullptr);

// Graphviz source: one box per node with op, fields and type; inputs and outputs coloured by kind.
std::string print_dot(const Graph& graph);

}  // namespace lumen
