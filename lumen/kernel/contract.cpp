#include "lumen/kernel/contract.h"

#include <fmt/format.h>

#include <map>
#include <vector>

#include "lumen/hlir/binary.h"
#include "lumen/hlir/infer.h"
#include "lumen/hlir/ops.h"
#include "lumen/hlir/reduce.h"
#include "lumen/hlir/view.h"

namespace lumen {

namespace llir {

Expected<TensorType> Contract::infer(const Contract& op, std::span<const TensorType> operands) {
  LUMEN_TRY(hlir::check_dtype(kName, kOperands, operands[0]));
  if (operands[0].dtype != operands[1].dtype) {
    return hlir::op_error(kName, fmt::format("operands of {} and {}", operands[0].str(), operands[1].str()));
  }
  const Shape domain = op.left.shape();
  if (!(op.right.shape() == domain)) {
    return hlir::op_error(kName,
                          fmt::format("views over different domains, {} and {}", domain.str(), op.right.shape().str()));
  }
  if (op.reduced < 0 || op.reduced > domain.rank()) {
    return hlir::op_error(kName, fmt::format("{} of the dims of {} cannot be summed over", op.reduced, domain.str()));
  }
  LUMEN_TRY(hlir::View::infer({op.left}, operands.first(1)));
  LUMEN_TRY(hlir::View::infer({op.right}, operands.subspan(1, 1)));
  const std::vector<Expr> dims(domain.begin(), domain.end() - op.reduced);
  return TensorType{operands[0].dtype, Shape(dims)};
}

}  // namespace llir

namespace {

Expected<NodeId> product_sum(Graph& graph, const llir::Contract& op, NodeId a, NodeId b) {
  const NodeId factors[] = {LUMEN_TRY(graph.add(hlir::View{op.left}, std::span(&a, 1))),
                            LUMEN_TRY(graph.add(hlir::View{op.right}, std::span(&b, 1)))};
  NodeId sum = LUMEN_TRY(graph.add(hlir::Mul{}, factors));
  for (int64_t k = 0; k < op.reduced; ++k) {
    hlir::SumReduce reduce;
    reduce.axis = op.left.shape().rank() - 1 - k;
    sum = LUMEN_TRY(graph.add(reduce, std::span(&sum, 1)));
  }
  return sum;
}

}  // namespace

const OpTable& llir_ops() {
  static const OpTable table = [] {
    OpTable all = hlir_ops();
    all.add(op_def<llir::Contract>());
    return all;
  }();
  return table;
}

const Stage& llir_stage() {
  static const Stage stage{"llir", llir_ops().ops()};
  return stage;
}

std::shared_ptr<Graph> expand(const Graph& graph) {
  auto result = std::make_shared<Graph>();
  for (const Expr& dim : graph.dims()) {
    const auto [lo, hi] = dim.dim_bounds();
    result->add_dim(dim.dim_name(), lo, hi).value();
  }
  std::map<NodeId, NodeId> made;
  for (const NodeId id : graph.order()) {
    const Node& node = graph[id];
    if (node.is<Input>()) {
      made[id] = result->add_input(node.as<Input>()).value();
      continue;
    }
    std::vector<NodeId> operands;
    for (const NodeId operand : node.operands) operands.push_back(made.at(operand));
    made[id] = node.is<llir::Contract>()
                   ? product_sum(*result, node.as<llir::Contract>(), operands[0], operands[1]).value()
                   : result->add(*node.op, node.fields, operands).value();
  }
  for (const Output& output : graph.outputs()) {
    const std::optional<NodeId> alias = output.alias ? std::optional(made.at(*output.alias)) : std::nullopt;
    result->add_output(output.name.str(), made.at(output.value), alias).value();
  }
  return result;
}

}  // namespace lumen
