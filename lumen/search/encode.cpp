#include "lumen/search/encode.h"

#include <fmt/format.h>

#include "lumen/kernel/contract.h"
#include "lumen/search/op_facts.h"

namespace lumen {

using egraph::EGraph;
using egraph::TableId;
using egraph::Value;

namespace {

constexpr std::string_view kFacts = R"(
(ruleset facts)
(ruleset exact)
(ruleset rounding)
(function type_of (Tensor) Type :merge old)
(function constant_of (Tensor) Scalar :merge old)
(relation factors (Tensor Tensor Tensor))
(relation addends (Tensor Tensor Tensor))
)";

}  // namespace

Encoding::Encoding(egraph::Program& program)
    : program_(&program), values_(program.egraph()), tensor_(program.egraph().add_sort("Tensor")) {}

Expected<Encoding> Encoding::declare(egraph::Program& program) {
  Encoding result(program);
  LUMEN_TRY(program.run_text(kFacts, "facts"));
  result.type_of_ = *program.find_table("type_of");
  for (const OpDef* op : llir_ops().ops()) {
    if (op->arity != kVariadic) LUMEN_TRY(result.declare_op(*op, static_cast<size_t>(op->arity)));
  }
  return result;
}

Expected<void> Encoding::declare_op(const OpDef& op, size_t operands) {
  EGraph& graph = program_->egraph();
  values_.add_enums(graph, op);
  std::string name(op.name);
  if (op.arity == kVariadic) name += fmt::format(".{}", operands);
  if (program_->find_table(name)) return error(fmt::format("two ops have the name {}", name));
  std::vector<egraph::Field> fields;
  for (size_t k = 0; k < op.fields.size(); ++k) {
    fields.push_back({std::string(op.fields[k].name), values_.sort_of(op, k)});
  }
  const std::vector<egraph::SortId> params(operands, tensor_);
  const TableId table = graph.add_table(constructor(name, params, fields, tensor_));
  ops_.push_back({table, &op, operands});
  add_fact_primitives(graph, values_, op, operands, name);
  return program_->run_text(fact_rules(op, operands, name), "facts of " + name);
}

Expected<const TermOp*> Encoding::term_op(const OpDef& op, size_t operands) {
  for (int attempt = 0; attempt < 2; ++attempt) {
    for (const TermOp& known : ops_) {
      if (known.op == &op && known.operands == operands) return &known;
    }
    LUMEN_TRY(declare_op(op, operands));
  }
  return error("an op cannot be declared");
}

const TermOp* Encoding::op_of(TableId table) const {
  for (const TermOp& op : ops_) {
    if (op.table == table) return &op;
  }
  return nullptr;
}

Expected<std::map<NodeId, Value>> Encoding::encode_nodes(const Graph& graph) {
  EGraph& egraph = program_->egraph();
  std::map<NodeId, Value> made;
  for (const NodeId id : graph.order()) {
    const Node& node = graph[id];
    const TermOp op = *LUMEN_TRY(term_op(*node.op, node.operands.size()));
    std::vector<Value> row;
    for (const NodeId operand : node.operands) row.push_back(made.at(operand));
    for (size_t k = 0; k < node.op->fields.size(); ++k) {
      row.push_back(values_.write(egraph.sorts(), *node.op, k, node.fields));
    }
    made[id] = egraph.make(op.table, row);
  }
  return made;
}

Expected<std::vector<Value>> Encoding::encode(const Graph& graph) {
  const std::map<NodeId, Value> made = LUMEN_TRY(encode_nodes(graph));
  std::vector<Value> outputs;
  for (const Output& output : graph.outputs()) outputs.push_back(made.at(output.value));
  return outputs;
}

FieldBuffer Encoding::fields_of(const TermOp& op, std::span<const Value> row) const {
  FieldBuffer fields(*op.op);
  for (size_t k = 0; k < op.op->fields.size(); ++k) {
    values_.read(program_->egraph().sorts(), *op.op, k, row[op.operands + k], fields.data());
  }
  return fields;
}

std::optional<TensorType> Encoding::type_of(Value tensor) const {
  EGraph& graph = program_->egraph();
  const Value key = graph.find(tensor_, tensor);
  const std::optional<Value> type = graph.lookup(type_of_, std::span(&key, 1));
  if (!type) return std::nullopt;
  return graph.host_value<TensorType>(values_.type_sort(), *type);
}

}  // namespace lumen
