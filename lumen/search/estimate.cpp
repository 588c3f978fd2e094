#include "lumen/search/estimate.h"

#include <algorithm>
#include <vector>

#include "lumen/hlir/view.h"
#include "lumen/kernel/contract.h"

namespace lumen::search {

namespace {

class Estimate {
 public:
  Estimate(const Graph& body, const DimValues& dims) : body_(body), dims_(dims), computed_(body.size(), 0) {}

  double run(const Machine& machine) {
    const OpCost cost = roofline(machine, dims_);
    double bytes = 0;
    for (const NodeId id : body_.inputs()) bytes += bytes_of(body_[id].type);
    for (const Output& output : body_.outputs()) {
      bytes += bytes_of(body_[output.value].type);
      need(output.value, elements(body_[output.value].type.shape));
    }
    std::vector<NodeId> order = body_.order();
    std::reverse(order.begin(), order.end());
    double seconds = 0;
    for (const NodeId id : order) {
      visit(id);
      seconds += computing(id, cost, machine);
    }
    return machine.launch + std::max(bytes / machine.bytes, seconds);
  }

 private:
  double size(Expr e) const {
    const Expected<int64_t> value = evaluate(e, dims_);
    return value.ok() ? static_cast<double>(std::max<int64_t>(*value, 0)) : 1;
  }
  double elements(const Shape& shape) const { return size(shape.numel()); }
  double bytes_of(const TensorType& type) const { return elements(type.shape) * info(type.dtype).bits / 8; }

  // Readers that ask for the same elements share them.
  void need(NodeId id, double count) { computed_[at(id)] = std::max(computed_[at(id)], count); }

  // The elements that a view of the domain reads, those of innermost repeated dims once.
  double read_through(const View& view, bool repeats_outside) const {
    const std::vector<int64_t> repeated = broadcast_dims(view);
    double count = 1;
    bool inside = true;
    for (int64_t k = view.shape().rank(); k-- > 0;) {
      const bool is_repeated = std::find(repeated.begin(), repeated.end(), k) != repeated.end();
      if (is_repeated && (inside || !repeats_outside)) continue;
      inside = false;
      count *= size(view.shape()[k]);
    }
    return count;
  }

  void visit(NodeId id) {
    const Node& node = body_[id];
    if (node.is<hlir::View>()) {
      computed_[at(node.operands[0])] += read_through(node.as<hlir::View>().view, true);
    } else if (node.is<llir::Contract>()) {
      need(node.operands[0], read_through(node.as<llir::Contract>().left, false));
      need(node.operands[1], read_through(node.as<llir::Contract>().right, false));
    } else {
      for (const NodeId operand : node.operands) {
        need(operand, node.op->is_elementwise() ? computed_[at(id)] : elements(body_[operand].type.shape));
      }
    }
  }

  // Without the launch that `cost` has in it: there is one for the whole.
  double computing(NodeId id, const OpCost& cost, const Machine& machine) const {
    const Node& node = body_[id];
    std::vector<TensorType> operands;
    for (const NodeId operand : node.operands) operands.push_back(body_[operand].type);
    const double once = cost({*node.op, node.fields, operands, node.type});
    const double all = elements(node.type.shape);
    if (!node.op->is_elementwise()) return std::max(0.0, once - machine.launch);
    return all == 0 ? 0 : once * std::max(1.0, computed_[at(id)] / all);
  }

  const Graph& body_;
  const DimValues& dims_;
  std::vector<double> computed_;  // by node: elements
};

}  // namespace

double estimate(const Graph& body, const DimValues& dims, const Machine& machine) {
  return Estimate(body, dims).run(machine);
}

}  // namespace lumen::search
