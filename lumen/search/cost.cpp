#include "lumen/search/cost.h"

#include <algorithm>
#include <cmath>

#include "lumen/hlir/binary.h"
#include "lumen/hlir/cast.h"
#include "lumen/hlir/unary.h"
#include "lumen/kernel/contract.h"

namespace lumen {

namespace {

constexpr int64_t kUsualDim = 256;
constexpr double kAsBytes = 8;    // times as many products of floats of 8 bits as of others
constexpr double kAnyOp = 1e-11;  // so that of two programs alike in cost the smaller one is taken

class Roofline {
 public:
  Roofline(const Machine& machine, const DimValues& dims) : machine_(machine), dims_(dims) {}

  double operator()(const CostedOp& given) const {
    if (const auto* contract = given.as<llir::Contract>()) return contraction(*contract, given);
    switch (given.op.family) {
      case OpFamily::leaf:
      case OpFamily::view:
        return kAnyOp;
      case OpFamily::unary:
      case OpFamily::binary:
      case OpFamily::select:
        return kAnyOp + elements(given.result.shape) * weight(given) / machine_.elements;
      case OpFamily::cast:
        return kAnyOp + elements(given.result.shape) / (widens(given) ? machine_.widening : 2 * machine_.elements);
      case OpFamily::gather:
        return kAnyOp + elements(given.result.shape) * 2 / machine_.elements;
      default:
        return kAnyOp + kernel(given);
    }
  }

 private:
  double size(Expr e) const {
    DimValues dims = dims_;
    for (const Expr variable : variables(e)) {
      if (variable.kind() != ExprKind::dim || dims.get(variable.dim_name())) continue;
      const auto [lo, hi] = variable.dim_bounds();
      dims.set(variable.dim_name(), std::clamp(kUsualDim, lo, hi));
    }
    const Expected<int64_t> value = evaluate(e, dims);
    return value.ok() ? static_cast<double>(std::max<int64_t>(*value, 0)) : kUsualDim;
  }

  double elements(Shape shape) const {
    double result = 1;
    for (const Expr dim : shape) result *= size(dim);
    return result;
  }

  static bool widens(const CostedOp& given) {
    return info(given.result.dtype).bits > info(given.operands[0].dtype).bits;
  }

  static double weight(const CostedOp& given) {
    using namespace hlir;
    if (given.as<Floor>() != nullptr) return 1;
    if (given.as<Recip>() != nullptr || given.as<Sqrt>() != nullptr || given.as<Div>() != nullptr) return 4;
    return given.op.family == OpFamily::unary || given.as<Mod>() != nullptr ? 8 : 1;
  }

  double kernel(const CostedOp& given) const {
    double read = elements(given.result.shape);
    for (const TensorType& operand : given.operands) read = std::max(read, elements(operand.shape));
    return machine_.launch + read / machine_.elements;
  }

  // The elements that a view of the domain reads: those of the dims that move it, at most all.
  double reads(const View& view, const TensorType& from) const {
    double moved = 1;
    for (int64_t k = 0; k < view.shape().rank(); ++k) {
      const Expr coordinate = Expr::index(static_cast<int>(k), view.shape()[k]);
      if (!coordinate.is_constant() && depends_on(view.index(), coordinate)) moved *= size(view.shape()[k]);
    }
    return std::min(moved, elements(from.shape));
  }

  double contraction(const llir::Contract& op, const CostedOp& given) const {
    const double domain = elements(op.left.shape());
    const double left = reads(op.left, given.operands[0]);
    const double right = reads(op.right, given.operands[1]);
    // Nothing is used twice: products and sums, which as such could share a kernel with others, are a little cheaper.
    if (left >= domain && right >= domain) {
      const auto sums = static_cast<double>(op.reduced);
      return kAnyOp + 1.002 * sums * machine_.launch + (1 + sums) * domain / machine_.elements;
    }
    const double bytes = (left + right) * info(given.result.dtype).bits / 8 / machine_.bytes;
    const double products = given.of_bytes ? machine_.products * kAsBytes : machine_.products;
    return kAnyOp + 1.002 * machine_.launch + std::max(domain / products, bytes);
  }

  Machine machine_;
  DimValues dims_;
};

}  // namespace

Machine machine_like(const Target& target) {
  if (!target.cuda) return {};
  return {.products = 3e14, .elements = 5e11, .bytes = 4e12, .widening = 1e12, .launch = 2e-6};
}

OpCost roofline(const Machine& machine, const DimValues& dims) { return Roofline(machine, dims); }

bool widens_bytes(const OpDef& op, const TensorType& operand) {
  return &op == &op_def<hlir::Cast>() && info(operand.dtype).bits == 8 && is_float(operand.dtype);
}

double cost_of(const Graph& graph, const OpCost& cost) {
  const auto is_bytes = [&](NodeId id) {
    const Node& node = graph[id];
    return node.operands.size() == 1 && widens_bytes(*node.op, graph[node.operands[0]].type);
  };
  double sum = 0;
  for (const NodeId id : graph.order()) {
    const Node& node = graph[id];
    std::vector<TensorType> operands;
    for (const NodeId operand : node.operands) operands.push_back(graph[operand].type);
    const bool of_bytes = node.is<llir::Contract>() && std::ranges::all_of(node.operands, is_bytes);
    sum += cost({*node.op, node.fields, operands, node.type, of_bytes});
  }
  return sum;
}

}  // namespace lumen
