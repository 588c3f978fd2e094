#include "lumen/search/check_terms.h"

#include <fmt/format.h>

#include "lumen/egraph/core/state.h"
#include "lumen/egraph/report/explain.h"

namespace lumen {

using egraph::EGraph;
using egraph::Reason;
using egraph::Value;

namespace {

// What is wrong with a row; nothing when it is right.
std::optional<TermFault> fault(const Encoding& encoding, const TermOp& op, std::span<const Value> row) {
  std::vector<TensorType> operands;
  for (const Value operand : row.first(op.operands)) {
    const std::optional<TensorType> type = encoding.type_of(operand);
    if (!type) return std::nullopt;  // said where the operand is wrong
    operands.push_back(*type);
  }
  const FieldBuffer fields = encoding.fields_of(op, row);
  const Expected<TensorType> type = op.op->infer(fields.data(), operands);
  if (!type.ok()) return TermFault{TermFault::Kind::refused, row.back(), type.diag().message, {}};
  const std::optional<TensorType> known = encoding.type_of(row.back());
  if (known && *known == *type) return std::nullopt;
  const std::string message = fmt::format("[{}] is of type {} among terms of type {}", op.op->name, type->str(),
                                          known ? known->str() : "unknown");
  using Kind = TermFault::Kind;
  const Kind kind = !known ? Kind::unknown : known->dtype != type->dtype ? Kind::dtype : Kind::shape;
  return TermFault{kind, row.back(), message, {}};
}

}  // namespace

std::string maker_of(EGraph& graph, const Encoding& encoding, const TermOp& op, std::span<const Value> row) {
  if (!graph.state().trace) return "";
  const Value id = traced_id(graph, op.table, row.first(row.size() - 1));
  const auto& origins = graph.state().trace->sorts[encoding.tensor_sort()].origins;
  if (id >= origins.size() || origins[id].reason.kind != Reason::Kind::rule) return "";
  return graph.rule(origins[id].reason.rule).name;
}

std::vector<TermFault> term_faults(EGraph& graph, const Encoding& encoding) {
  std::vector<TermFault> faults;
  for (const TermOp& op : encoding.ops()) {
    graph.for_each_row(op.table, [&](std::span<const Value> row, bool) {
      std::optional<TermFault> found = fault(encoding, op, row);
      if (!found) return;
      found->rule = maker_of(graph, encoding, op, row);
      faults.push_back(std::move(*found));
    });
  }
  return faults;
}

Expected<void> check_terms(EGraph& graph, const Encoding& encoding) {
  const std::vector<TermFault> faults = term_faults(graph, encoding);
  if (faults.empty()) return {};
  const std::string& rule = faults[0].rule;
  return error(fmt::format("a rule{} made a term that is no tensor: {}", rule.empty() ? "" : ", " + rule + ",",
                           faults[0].message));
}

}  // namespace lumen
