#include "lumen/search/check_terms.h"

#include <fmt/format.h>

#include "lumen/egraph/core/state.h"
#include "lumen/egraph/report/explain.h"

namespace lumen {

using egraph::EGraph;
using egraph::Reason;
using egraph::Value;

namespace {

// The rule that made the term of a row; empty when that is not known.
std::string maker_of(EGraph& graph, const Encoding& encoding, const TermOp& op, std::span<const Value> row) {
  if (!graph.state().trace) return "";
  const Value id = traced_id(graph, op.table, row.first(row.size() - 1));
  const auto& origins = graph.state().trace->sorts[encoding.tensor_sort()].origins;
  if (id >= origins.size() || origins[id].reason.kind != Reason::Kind::rule) return "";
  return graph.rule(origins[id].reason.rule).name;
}

// What is wrong with a row; empty when nothing is.
std::string fault(const Encoding& encoding, const TermOp& op, std::span<const Value> row) {
  std::vector<TensorType> operands;
  for (const Value operand : row.first(op.operands)) {
    const std::optional<TensorType> type = encoding.type_of(operand);
    if (!type) return "";  // said where the operand is wrong
    operands.push_back(*type);
  }
  const FieldBuffer fields = encoding.fields_of(op, row);
  const Expected<TensorType> type = op.op->infer(fields.data(), operands);
  if (!type.ok()) return type.diag().message;
  const std::optional<TensorType> known = encoding.type_of(row.back());
  if (known && *known == *type) return "";
  return fmt::format("[{}] is of type {} among terms of type {}", op.op->name, type->str(),
                     known ? known->str() : "unknown");
}

}  // namespace

Expected<void> check_terms(EGraph& graph, const Encoding& encoding) {
  for (const TermOp& op : encoding.ops()) {
    std::string found;
    std::string rule;
    graph.for_each_row(op.table, [&](std::span<const Value> row, bool) {
      if (!found.empty()) return;
      found = fault(encoding, op, row);
      if (!found.empty()) rule = maker_of(graph, encoding, op, row);
    });
    if (found.empty()) continue;
    return error(
        fmt::format("a rule{} made a term that is no tensor: {}", rule.empty() ? "" : ", " + rule + ",", found));
  }
  return {};
}

}  // namespace lumen
