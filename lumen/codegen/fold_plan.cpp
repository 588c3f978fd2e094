#include "lumen/codegen/fold_plan.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>

#include "lumen/codegen/element_ops.h"
#include "lumen/hlir/binary.h"
#include "lumen/hlir/cast.h"
#include "lumen/hlir/indexing.h"
#include "lumen/hlir/lanes.h"
#include "lumen/hlir/reduce.h"
#include "lumen/hlir/unary.h"

namespace lumen {

namespace {

std::optional<int64_t> axis_of(const Node& node) {
  if (node.is<hlir::SumReduce>()) return node.as<hlir::SumReduce>().axis;
  if (node.is<hlir::MaxReduce>()) return node.as<hlir::MaxReduce>().axis;
  if (node.is<hlir::ProdReduce>()) return node.as<hlir::ProdReduce>().axis;
  if (node.is<hlir::ArgMax>()) return node.as<hlir::ArgMax>().axis;
  return std::nullopt;
}

// How often a value is read, results included.
std::map<NodeId, int> count_uses(const Graph& body) {
  std::map<NodeId, int> uses;
  for (const NodeId id : body.order()) {
    for (const NodeId operand : body[id].operands) ++uses[operand];
  }
  for (const Output& output : body.outputs()) ++uses[output.value];
  return uses;
}

// A reduction that only a reduction of the same kind reads is a part of that.
bool is_part(const Graph& body, NodeId inner, const Node& outer, const std::map<NodeId, int>& uses) {
  return body[inner].op == outer.op && !outer.is<hlir::ArgMax>() && uses.at(inner) == 1;
}

struct Chain {
  NodeId operand;
  std::vector<int64_t> axes;
};

Chain chain_of(const Graph& body, NodeId result, const std::map<NodeId, int>& uses) {
  Chain chain{body[result].operands[0], {*axis_of(body[result])}};
  while (is_part(body, chain.operand, body[result], uses)) {
    const int64_t axis = *axis_of(body[chain.operand]);
    for (int64_t& later : chain.axes) later += later >= axis ? 1 : 0;  // in the shape that still has this axis
    chain.axes.push_back(axis);
    chain.operand = body[chain.operand].operands[0];
  }
  std::sort(chain.axes.begin(), chain.axes.end());
  return chain;
}

std::string axes_text(const std::vector<int64_t>& axes) {
  return fmt::format("{} {}", axes.size() == 1 ? "axis" : "axes", fmt::join(axes, ","));
}

FoldReduction reduction_of(const Graph& body, NodeId result, NodeId operand) {
  const Node& node = body[result];
  const DType dtype = body[operand].type.dtype;
  FoldReduction made{result, operand, dtype, "max", literal(Scalar{dtype, hlir::lowest(dtype)})};
  if (node.is<hlir::SumReduce>()) made.function = "add";
  if (node.is<hlir::ProdReduce>()) made.function = "mul";
  if (node.is<hlir::SumReduce>()) made.start = "0";
  if (node.is<hlir::ProdReduce>()) made.start = "1";
  made.finds = node.is<hlir::ArgMax>();
  return made;
}

void find_levels(const Graph& body, FoldPlan& plan) {
  std::map<NodeId, FoldReduction*> by_result;
  for (FoldReduction& each : plan.reductions) by_result[each.result] = &each;
  std::map<NodeId, int> depth;
  for (const NodeId id : body.order()) {
    int deepest = 0;
    for (const NodeId operand : body[id].operands) deepest = std::max(deepest, depth[operand]);
    const auto found = by_result.find(id);
    if (found != by_result.end()) found->second->level = ++deepest;
    depth[id] = deepest;
    plan.levels = std::max(plan.levels, deepest);
  }
}

}  // namespace

Expected<FoldPlan> plan_fold(const Graph& body) {
  FoldPlan plan;
  const std::map<NodeId, int> uses = count_uses(body);
  std::vector<NodeId> parts;
  const std::vector<NodeId> order = body.order();
  for (auto id = order.rbegin(); id != order.rend(); ++id) {
    if (!axis_of(body[*id]) || std::find(parts.begin(), parts.end(), *id) != parts.end()) continue;
    const Chain chain = chain_of(body, *id, uses);
    for (NodeId part = body[*id].operands[0]; part != chain.operand; part = body[part].operands[0]) {
      parts.push_back(part);
    }
    const Shape whole = body[chain.operand].type.shape;
    if (plan.reductions.empty()) {
      plan.whole = whole;
      plan.axes = chain.axes;
      plan.rows = body[*id].type.shape;
    } else if (!(whole == plan.whole) || chain.axes != plan.axes) {
      return error(
          fmt::format("the reductions of a fold kernel are over the same rows, but these are over {} of {} and "
                      "{} of {}",
                      axes_text(chain.axes), whole.str(), axes_text(plan.axes), plan.whole.str()));
    }
    plan.reductions.push_back(reduction_of(body, *id, chain.operand));
  }
  if (plan.reductions.empty()) return error("a fold kernel without a reduction");
  std::reverse(plan.reductions.begin(), plan.reductions.end());
  find_levels(body, plan);
  return plan;
}

int op_cost(const Graph& body, NodeId id) {
  const Node& node = body[id];
  using Cost = std::pair<const OpDef*, int>;
  static const std::array kCosts = {
      Cost{&op_def<hlir::Exp2>(), 12}, Cost{&op_def<hlir::Log2>(), 16}, Cost{&op_def<hlir::Sin>(), 24},
      Cost{&op_def<hlir::Tanh>(), 24}, Cost{&op_def<hlir::Erf>(), 24},  Cost{&op_def<hlir::Atan>(), 24},
      Cost{&op_def<hlir::Recip>(), 6}, Cost{&op_def<hlir::Sqrt>(), 6},  Cost{&op_def<hlir::Div>(), 6},
      Cost{&op_def<hlir::Mod>(), 100}, Cost{&op_def<hlir::Gather>(), 8}};
  for (const auto& [op, cost] : kCosts) {
    if (op == node.op) return cost;
  }
  if (!node.is<hlir::Cast>()) return 1;
  const DType narrower = info(node.type.dtype).bits < info(body[node.operands[0]].type.dtype).bits
                             ? node.type.dtype
                             : body[node.operands[0]].type.dtype;
  return is_float(narrower) && info(narrower).bits < 32 && narrower != DType::bf16 ? 12 : 2;
}

}  // namespace lumen
