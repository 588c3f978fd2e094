#include "lumen/backend/reference/plan.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "lumen/backend/reference/interpreter.h"
#include "lumen/hlir/leaves.h"
#include "lumen/hlir/loop.h"
#include "lumen/hlir/view.h"

namespace lumen::reference {

namespace {

// Deep chains are cut: a tape is compiled by recursion and keeps a buffer for each of its nodes.
constexpr int kMaxTapeDepth = 64;

bool is_leaf(const Node& node) { return node.is<hlir::View>() || node.is<hlir::Iota>(); }
// Takes its operands a run at a time, so that they need not be stored.
bool pulls(const Node& node) { return node.op->apply != nullptr || node.op->fold != nullptr; }

bool same_loop(const Node& a, const Node& b) {
  if (!a.is<hlir::Loop>() || !b.is<hlir::Loop>() || !std::ranges::equal(a.operands, b.operands)) return false;
  hlir::Loop x = a.as<hlir::Loop>();
  x.result = b.as<hlir::Loop>().result;
  return a.op->equal(&x, b.fields);
}

std::string type_of(const HostTensor& tensor) {
  return fmt::format("{}[{}]", name(tensor.dtype), fmt::join(tensor.dims, ","));
}

}  // namespace

Expected<Plan> Plan::compile(const Graph& graph, const DimValues& dims) {
  Plan plan(graph, dims);
  const std::vector<NodeId> order = graph.order();
  const std::vector<bool> stored = plan.choose_stored(order);
  plan.owned_.resize(graph.size());
  plan.at_.resize(graph.size());
  for (const NodeId id : order) {
    if (stored[at(id)] && !graph[id].is<Input>()) LUMEN_TRY(plan.add_step(id, stored));
  }
  plan.find_last_uses();
  return plan;
}

std::vector<bool> Plan::choose_stored(std::span<const NodeId> order) const {
  const Graph& graph = *graph_;
  std::vector<bool> stored(graph.size());
  std::vector<bool> only_folded(graph.size(), true);
  std::vector<int> users(graph.size());
  for (const Output& output : graph.outputs()) stored[at(output.value)] = true;
  for (const NodeId id : order) {
    const Node& node = graph[id];
    for (size_t k = 0; k < node.operands.size(); ++k) {
      const NodeId operand = node.operands[k];
      const std::span<const NodeId> before = node.operands.first(k);
      if (std::ranges::find(before, operand) == before.end()) ++users[at(operand)];
      if (node.op->fold == nullptr) only_folded[at(operand)] = false;
      if (!pulls(node)) stored[at(operand)] = true;
    }
  }
  std::vector<int> depth(graph.size());
  for (const NodeId id : order) {
    const Node& node = graph[id];
    for (const NodeId operand : node.operands) {
      if (!stored[at(operand)]) depth[at(id)] = std::max(depth[at(id)], depth[at(operand)] + 1);
    }
    const bool pulled = is_leaf(node) ||
                        (node.op->is_elementwise() && users[at(id)] == 1 && depth[at(id)] < kMaxTapeDepth) ||
                        (node.op->fold != nullptr && users[at(id)] == 1 && only_folded[at(id)]);
    if (!pulled) stored[at(id)] = true;
  }
  return stored;
}

Expected<void> Plan::add_levels(Step& step, const std::vector<bool>& stored) const {
  const Graph& graph = *graph_;
  NodeId operand = step.node;
  do {
    const Node& node = graph[operand];
    operand = node.operands[0];
    step.levels.insert(step.levels.begin(), {&node, graph[operand].type.dtype, 0});
  } while (graph[operand].op->fold != nullptr && !stored[at(operand)]);
  step.tape = LUMEN_TRY(Tape::compile(graph, operand, stored[at(operand)], stored, values_));
  std::vector<size_t> left(step.tape->dims().size());
  std::iota(left.begin(), left.end(), size_t{0});
  for (Level& level : step.levels) {
    const auto axis = left.begin() + level.node->op->fold->axis(level.node->fields);
    level.axis = *axis;
    left.erase(axis);
  }
  return {};
}

size_t Plan::choose_line_axis(const Step& step) {
  constexpr double kAlongFold = 1;  // one accumulator waits for itself
  size_t best = 0;
  double least = std::numeric_limits<double>::infinity();
  for (size_t axis = step.tape->dims().size(); axis-- > 0;) {
    const auto level = std::ranges::find(step.levels, axis, &Level::axis);
    const bool along = level != step.levels.end();
    if (along && level != step.levels.begin()) continue;
    const double cost = step.tape->cost_along(axis) + (along ? kAlongFold : 0);
    if (cost < least) {
      least = cost;
      best = axis;
    }
  }
  return best;
}

Expected<void> Plan::add_step(NodeId id, const std::vector<bool>& stored) {
  const Graph& graph = *graph_;
  const Node& node = graph[id];
  if (node.is<hlir::Loop>()) {
    for (Step& step : steps_) {
      if (!same_loop(graph[step.node], node)) continue;
      step.results.push_back(id);
      return {};
    }
  }
  Step step;
  step.node = id;
  step.dims = LUMEN_TRY(node.type.shape.evaluate(values_));
  if (node.op->fold != nullptr) {
    LUMEN_TRY(add_levels(step, stored));
  } else if (node.op->is_elementwise() || is_leaf(node)) {
    step.tape = LUMEN_TRY(Tape::compile(graph, id, false, stored, values_));
  } else if (node.is<hlir::Loop>()) {
    step.results = {id};
  } else if (node.op->eval == nullptr) {
    return error(fmt::format("[{}] has no meaning that the reference can run", node.op->name));
  }
  if (step.tape) {
    std::vector<size_t> fixed;
    for (const Level& level : step.levels) fixed.push_back(level.axis);
    step.tape->merge_axes(fixed);
    for (size_t k = 0; k < fixed.size(); ++k) step.levels[k].axis = fixed[k];
    step.line_axis = choose_line_axis(step);
  }
  step.reads = step.tape ? step.tape->sources() : std::vector(node.operands.begin(), node.operands.end());
  steps_.push_back(std::move(step));
  return {};
}

void Plan::find_last_uses() {
  std::vector<bool> used(graph_->size());
  for (const Output& output : graph_->outputs()) used[at(output.value)] = true;
  for (size_t k = steps_.size(); k-- > 0;) {
    for (const NodeId id : steps_[k].reads) {
      if (!used[at(id)]) steps_[k].last_uses.push_back(id);
      used[at(id)] = true;
    }
  }
}

Expected<void> Plan::check_inputs(std::span<const HostTensor* const> inputs) {
  const std::span<const NodeId> ids = graph_->inputs();
  if (inputs.size() != ids.size()) {
    return error(fmt::format("the graph has {} inputs, got {}", ids.size(), inputs.size()));
  }
  for (size_t k = 0; k < inputs.size(); ++k) {
    const Node& node = (*graph_)[ids[k]];
    const std::vector<int64_t> dims = LUMEN_TRY(node.type.shape.evaluate(values_));
    if (inputs[k]->dtype != node.type.dtype || inputs[k]->dims != dims) {
      return error(fmt::format("[Input] \"{}\" is {}[{}], got {}", node.as<Input>().name.str(), name(node.type.dtype),
                               fmt::join(dims, ","), type_of(*inputs[k])));
    }
    at_[at(ids[k])] = inputs[k];
  }
  return {};
}

HostTensor& Plan::make(NodeId id, std::vector<int64_t> dims) {
  HostTensor& tensor = owned_[at(id)] = HostTensor::poisoned((*graph_)[id].type.dtype, std::move(dims));
  at_[at(id)] = &tensor;
  return tensor;
}

Expected<void> Plan::run_step(Step& step) {
  const Node& node = (*graph_)[step.node];
  if (!step.results.empty()) return run_loop(step);
  HostTensor& out = make(step.node, step.dims);
  if (node.op->fold != nullptr) return run_fold(step, out);
  if (step.tape) return run_map(step, out);
  std::vector<const HostTensor*> operands;
  for (const NodeId id : node.operands) operands.push_back(at_[at(id)]);
  return node.op->eval(node.fields, EvalContext{values_}, operands, out);
}

Expected<std::vector<HostTensor>> Plan::run(std::span<const HostTensor* const> inputs) {
  LUMEN_TRY(check_inputs(inputs));
  for (Step& step : steps_) {
    LUMEN_TRY(run_step(step));
    for (const NodeId id : step.last_uses) owned_[at(id)] = {};
  }
  std::vector<HostTensor> outputs;
  for (const Output& output : graph_->outputs()) outputs.push_back(*at_[at(output.value)]);
  for (const Output& output : graph_->outputs()) owned_[at(output.value)] = {};
  return outputs;
}

}  // namespace lumen::reference

namespace lumen {

Expected<std::vector<HostTensor>> interpret(const Graph& graph, std::span<const HostTensor* const> inputs,
                                            const DimValues& dims) {
  reference::Plan plan = LUMEN_TRY(reference::Plan::compile(graph, dims));
  return plan.run(inputs);
}

}  // namespace lumen
