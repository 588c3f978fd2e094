#include "lumen/codegen/rough.h"

#include <algorithm>
#include <array>

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

bool has_rough_form(std::string_view function) {
  static constexpr std::array<std::string_view, 5> kForms = {"recip", "div", "sqrt", "tanh", "erf"};
  return std::ranges::find(kForms, function) != kForms.end();
}

}  // namespace lumen
