#include "lumen/codegen/rough.h"

#include "lumen/codegen/constant_of.h"
#include "lumen/codegen/element_ops.h"
#include "lumen/hlir/binary.h"
#include "lumen/hlir/unary.h"

namespace lumen {

namespace {

// Whether an error of an operand, relative to its size, is an error like it of the result; not so where the result
// jumps.
bool passes_errors_on(const Node& node) {
  if (!is_float(node.type.dtype) || node.is<hlir::Floor>() || node.is<hlir::Mod>()) return false;
  switch (node.op->family) {
    case OpFamily::unary:
    case OpFamily::binary:
    case OpFamily::select:
    case OpFamily::cast:
    case OpFamily::reduce:
    case OpFamily::view:
    case OpFamily::gather:
    case OpFamily::contract:
      return true;
    default:
      return false;
  }
}

bool is_never_negative(const Graph& body, NodeId id) {
  const Node& node = body[behind_views(body, id)];
  if (node.is<hlir::Mul>()) return node.operands[0] == node.operands[1];
  return node.is<hlir::Exp2>() || node.is<hlir::Sqrt>();
}

// Whether no element is 0, below the normal range or negative, as far as a look at the ops shows it.
bool is_normal(const Graph& body, NodeId id) {
  const Node& node = body[behind_views(body, id)];
  if (!node.is<hlir::Add>()) return false;
  const auto lifts = [&](NodeId by, NodeId other) {
    return constant_of(body, by).value_or(0) >= 0x1p-126 && is_never_negative(body, other);
  };
  return lifts(node.operands[0], node.operands[1]) || lifts(node.operands[1], node.operands[0]);
}

}  // namespace

std::set<NodeId> rough_values(const Graph& body) {
  std::set<NodeId> exact;
  for (const Output& output : body.outputs()) {
    if (!rounds(body[output.value].type.dtype)) exact.insert(output.value);
  }
  std::set<NodeId> rough;
  const std::vector<NodeId> order = body.order();
  for (auto id = order.rbegin(); id != order.rend(); ++id) {
    const Node& node = body[*id];
    const bool narrow = rounds(node.type.dtype);
    if (narrow || (node.type.dtype == f32 && !exact.contains(*id))) {
      rough.insert(*id);
      if (passes_errors_on(node)) continue;
    }
    exact.insert(node.operands.begin(), node.operands.end());
  }
  return rough;
}

std::optional<RoughCall> rough_call(const Graph& body, NodeId id) {
  const Node& node = body[id];
  if (node.type.dtype == f64) return std::nullopt;
  const std::vector<NodeId> operands(node.operands.begin(), node.operands.end());
  if (node.is<hlir::Exp2>()) return RoughCall{"lumen_exp2_rough", operands};
  if (node.is<hlir::Tanh>()) return RoughCall{"lumen_tanh_rough", operands};
  if (node.is<hlir::Erf>()) return RoughCall{"lumen_erf_rough", operands};
  if (node.is<hlir::Div>() && is_float(node.type.dtype)) return RoughCall{"lumen_div_rough", operands};
  if (node.is<hlir::Recip>()) {
    return RoughCall{is_normal(body, operands[0]) ? "lumen_recip_normal" : "lumen_recip_rough", operands};
  }
  if (node.is<hlir::Sqrt>()) {
    return RoughCall{is_normal(body, operands[0]) ? "lumen_sqrt_normal" : "lumen_sqrt_rough", operands};
  }
  if (!node.is<hlir::Add>()) return std::nullopt;
  for (const size_t k : {0u, 1u}) {
    const Node& term = body[operands[k]];
    if (constant_of(body, operands[1 - k]) != 1.0) continue;
    if (term.is<hlir::Tanh>()) return RoughCall{"lumen_one_plus_tanh_rough", {term.operands[0]}};
    if (term.is<hlir::Erf>()) return RoughCall{"lumen_one_plus_erf_rough", {term.operands[0]}};
  }
  return std::nullopt;
}

}  // namespace lumen
