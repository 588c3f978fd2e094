#include "tests/hlir/naive_evaluator.h"

#include "lumen/hlir/coordinates.h"
#include "lumen/hlir/loop.h"

namespace lumen::testing {

namespace {

using Operands = std::vector<const HostTensor*>;

Expected<void> apply(const Node& node, const Operands& operands, HostTensor& out) {
  std::vector<DType> dtypes;
  std::vector<const Lane*> lanes;
  for (const HostTensor* operand : operands) {
    dtypes.push_back(operand->dtype);
    lanes.push_back(operand->lanes.data());
  }
  std::string failure;
  node.op->apply(node.fields, {dtypes, lanes, out.dtype, out.lanes.data(), out.numel(), &failure});
  if (!failure.empty()) return error(failure);
  return {};
}

void fold(const Node& node, const HostTensor& x, HostTensor& out) {
  const Fold& fold = *node.op->fold;
  const hlir::AxisSplit split = hlir::split_at(x.dims, fold.axis(node.fields));
  for (int64_t line = 0; line < split.outer * split.inner; ++line) {
    const int64_t first = line / split.inner * split.size * split.inner + line % split.inner;
    Lane value{};
    Lane extra{};
    fold.start(x.dtype, {&value, &extra}, 1);
    for (int64_t k = 0; k < split.size; ++k) {
      fold.along({x.dtype, x.lanes.data() + first + k * split.inner, 1, k}, {&value, &extra});
    }
    fold.finish(x.dtype, {&value, &extra}, 1, &out.lanes[static_cast<size_t>(line)]);
  }
}

Expected<HostTensor> loop(const Node& node, const Operands& operands, const DimValues& dims) {
  const hlir::Loop& op = node.as<hlir::Loop>();
  const int64_t trip = LUMEN_TRY(evaluate(op.trip, dims));
  std::vector<HostTensor> current;
  for (const HostTensor* operand : operands) current.push_back(*operand);
  HostTensor stack{node.type.dtype, LUMEN_TRY(node.type.shape.evaluate(dims)), {}};
  for (int64_t t = 0; t < trip; ++t) {
    for (int64_t k = op.carried; k < op.carried + op.scanned; ++k) {
      const HostTensor& whole = *operands[static_cast<size_t>(k)];
      const int64_t size = whole.numel() / trip;
      current[static_cast<size_t>(k)] = {whole.dtype,
                                         {whole.dims.begin() + 1, whole.dims.end()},
                                         {whole.lanes.begin() + t * size, whole.lanes.begin() + (t + 1) * size}};
    }
    Operands inputs;
    for (const HostTensor& tensor : current) inputs.push_back(&tensor);
    const std::vector<HostTensor> outputs = LUMEN_TRY(evaluate_naively(*op.body.graph, inputs, dims));
    const HostTensor& part = outputs[static_cast<size_t>(op.result)];
    stack.lanes.insert(stack.lanes.end(), part.lanes.begin(), part.lanes.end());
    for (size_t k = 0; k < static_cast<size_t>(op.carried); ++k) current[k] = outputs[k];
  }
  return op.result < op.carried ? current[static_cast<size_t>(op.result)] : stack;
}

}  // namespace

Expected<std::vector<HostTensor>> evaluate_naively(const Graph& graph, std::span<const HostTensor* const> inputs,
                                                   const DimValues& dims) {
  std::vector<HostTensor> values(graph.size());
  for (size_t k = 0; k < inputs.size(); ++k) values[static_cast<size_t>(graph.inputs()[k])] = *inputs[k];
  for (const NodeId id : graph.order()) {
    const Node& node = graph[id];
    if (node.is<Input>()) continue;
    Operands operands;
    for (const NodeId operand : node.operands) operands.push_back(&values[static_cast<size_t>(operand)]);
    HostTensor& out = values[static_cast<size_t>(id)];
    out = HostTensor::poisoned(node.type.dtype, LUMEN_TRY(node.type.shape.evaluate(dims)));
    if (node.op->apply != nullptr) {
      LUMEN_TRY(apply(node, operands, out));
    } else if (node.op->fold != nullptr) {
      fold(node, *operands[0], out);
    } else if (node.op->eval != nullptr) {
      LUMEN_TRY(node.op->eval(node.fields, EvalContext{dims}, operands, out));
    } else {
      out = LUMEN_TRY(loop(node, operands, dims));
    }
  }
  std::vector<HostTensor> outputs;
  for (const Output& output : graph.outputs()) outputs.push_back(values[static_cast<size_t>(output.value)]);
  return outputs;
}

}  // namespace lumen::testing
