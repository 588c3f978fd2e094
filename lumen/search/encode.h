// Graphs in an e-graph. Every op is a constructor whose arguments are its operands and whose named fields are its
// fields, both derived from the OpDef; so rules say (SumReduce ?x :axis ?i) and there is no second list of ops.
//
//   %2 = SumReduce(%1) :axis 0      is the term (SumReduce ?1 :axis 0) of sort Tensor
//
// Facts that rules may use, kept for every class by rules that are derived as well (ruleset facts):
//   (type_of ?t)       Type, what the op's infer says; check_terms.h finds classes with two
//   (constant_of ?t)   Scalar, for tensors all of whose elements are known to be that
//   (factors ?t ?a ?b), (addends ?t ?a ?b)   ?t is the product, the sum, of these; in both orders
//
// A variadic op has a constructor for each number of operands that occurs: Loop of two is Loop.2. An op of a user's own
// is encoded like any other.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lumen/egraph/core/host.h"
#include "lumen/egraph/lang/program.h"
#include "lumen/ir/graph.h"
#include "lumen/search/field_values.h"

namespace lumen {

// What a table of terms stands for.
struct TermOp {
  egraph::TableId table;
  const OpDef* op;
  size_t operands;
};

class Encoding {
 public:
  // Declares the ops of llir_ops() and the facts on the program, which must outlive this.
  static Expected<Encoding> declare(egraph::Program& program);

  // Makes the terms of what graph.order() shows and gives those of its outputs. The graph must outlive the program.
  Expected<std::vector<egraph::Value>> encode(const Graph& graph);
  // The same for every node that order() shows.
  Expected<std::map<NodeId, egraph::Value>> encode_nodes(const Graph& graph);

  egraph::SortId tensor_sort() const { return tensor_; }
  std::span<const TermOp> ops() const { return ops_; }
  const TermOp* op_of(egraph::TableId table) const;  // null for tables of anything else
  // The struct of the op of a row.
  FieldBuffer fields_of(const TermOp& op, std::span<const egraph::Value> row) const;
  // Of a class; nothing when no term of it has one (a rule made what infer refuses) or facts were not run.
  std::optional<TensorType> type_of(egraph::Value tensor) const;

 private:
  explicit Encoding(egraph::Program& program);
  Expected<const TermOp*> term_op(const OpDef& op, size_t operands);
  Expected<void> declare_op(const OpDef& op, size_t operands);

  egraph::Program* program_;
  FieldValues values_;
  egraph::SortId tensor_ = 0;
  egraph::TableId type_of_ = 0;
  std::vector<TermOp> ops_;
};

}  // namespace lumen
