#include "lumen/hlir/loop.h"

#include <fmt/format.h>

#include <string>
#include <vector>

#include "lumen/hlir/infer.h"
#include "lumen/ir/expr_parts.h"
#include "lumen/ir/graph.h"

namespace lumen::hlir {

namespace {

// `type` with a new leading dim.
TensorType stacked(const TensorType& type, Expr size) {
  std::vector<Expr> dims(type.shape.begin(), type.shape.end());
  dims.insert(dims.begin(), size);
  return {type.dtype, Shape(dims)};
}

Expected<void> check_counts(const Loop& op, size_t operands) {
  CHECK(op.body.graph != nullptr, "Graph::add refuses a missing body");
  if (op.trip.constant().value_or(0) < 0 || has_index(op.trip) || op.trip.kind() == ExprKind::undefined) {
    return op_error(Loop::kName, fmt::format("{} is no number of iterations", op.trip.str()));
  }
  const size_t inputs = op.body.graph->inputs().size();
  if (operands != inputs) {
    return op_error(Loop::kName, fmt::format("the body has {} inputs, got {} operands", inputs, operands));
  }
  const auto count = static_cast<int64_t>(operands);
  if (op.carried < 0 || op.scanned < 0 || op.carried > count || op.scanned > count - op.carried) {
    return op_error(Loop::kName,
                    fmt::format("{} operands cannot be {} carried and {} scanned", count, op.carried, op.scanned));
  }
  const auto results = static_cast<int64_t>(op.body.graph->outputs().size());
  if (op.carried > results) {
    return op_error(Loop::kName, fmt::format("the body has {} outputs for {} carried values", results, op.carried));
  }
  if (op.result < 0 || op.result >= results) {
    return op_error(Loop::kName, fmt::format("result {} out of range for {} results", op.result, results));
  }
  return {};
}

Expected<void> check_operand(const Loop& op, int64_t k, const TensorType& given) {
  const Graph& body = *op.body.graph;
  const Node& input = body[body.inputs()[static_cast<size_t>(k)]];
  const bool scanned = k >= op.carried && k < op.carried + op.scanned;
  const TensorType wanted = scanned ? stacked(input.type, op.trip) : input.type;
  if (given == wanted) return {};
  const std::string_view role = k < op.carried ? "carried" : scanned ? "scanned" : "shared";
  return op_error(Loop::kName, fmt::format("{} operand {} must be {} for body input \"{}\", got {}", role, k,
                                           wanted.str(), input.as<Input>().name.str(), given.str()));
}

}  // namespace

Expected<TensorType> Loop::infer(const Loop& op, std::span<const TensorType> operands) {
  LUMEN_TRY(check_counts(op, operands.size()));
  for (size_t k = 0; k < operands.size(); ++k) {
    LUMEN_TRY(check_operand(op, static_cast<int64_t>(k), operands[k]));
  }
  const Graph& body = *op.body.graph;
  for (size_t k = 0; k < body.outputs().size(); ++k) {
    const Output& output = body.outputs()[k];
    if (output.alias) {
      return op_error(kName, fmt::format("body output \"{}\" updates state; carry it instead", output.name.str()));
    }
    const TensorType& type = body[output.value].type;
    if (k < static_cast<size_t>(op.carried) && type != operands[k]) {
      return op_error(kName, fmt::format("body output \"{}\" is {}, but the value it carries on is {}",
                                         output.name.str(), type.str(), operands[k].str()));
    }
  }
  const TensorType& type = body[body.outputs()[static_cast<size_t>(op.result)].value].type;
  return op.result < op.carried ? type : stacked(type, op.trip);
}

}  // namespace lumen::hlir
