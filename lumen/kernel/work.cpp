#include "lumen/kernel/work.h"

#include <algorithm>
#include <vector>

#include "lumen/kernel/contract.h"

namespace lumen {

namespace {

class Count {
 public:
  Count(const Graph& body, const DimValues& dims) : body_(body), dims_(dims), read_(body.size(), 0) {}

  Work run() {
    std::vector<NodeId> order = body_.order();
    for (const Output& output : body_.outputs()) read_[at(output.value)] += elements(body_[output.value].type);
    std::reverse(order.begin(), order.end());
    for (const NodeId id : order) visit(id);
    for (const Output& output : body_.outputs())
      result_.bytes += bytes(body_[output.value].type, written(output.value));
    for (const NodeId id : body_.inputs()) {
      const TensorType& type = body_[id].type;
      result_.bytes += bytes(type, std::min(read_[at(id)], elements(type)));
    }
    return result_;
  }

 private:
  double size(Expr e) const {
    const Expected<int64_t> value = evaluate(e, dims_);
    return value.ok() ? static_cast<double>(std::max<int64_t>(*value, 0)) : 1;
  }
  double elements(const TensorType& type) const { return size(type.shape.numel()); }
  static double bytes(const TensorType& type, double count) { return count * info(type.dtype).bits / 8; }

  // A scatter into what is nothing but an input leaves the rest where it is.
  bool changes_in_place(const Node& node) const {
    return node.op->family == OpFamily::scatter && body_[node.operands[0]].is<Input>();
  }
  double written(NodeId id) const {
    const Node& node = body_[id];
    return changes_in_place(node) ? elements(body_[node.operands[2]].type) : elements(node.type);
  }

  static DType wider(DType a, DType b) { return info(a).bits < info(b).bits ? b : a; }
  // Of what a factor is before it is cast to the dtype that products are summed in.
  DType narrowest(NodeId id) const {
    DType found = body_[id].type.dtype;
    while (body_[id].op->family == OpFamily::cast || body_[id].op->family == OpFamily::view ||
           body_[id].op->family == OpFamily::gather) {
      id = body_[id].operands[0];
      const DType before = body_[id].type.dtype;
      if (info(before).bits < info(found).bits) found = before;
    }
    return found;
  }

  // Adds what the node reads of its operands, which come later, and what it computes: as much as is read of it.
  void visit(NodeId id) {
    const Node& node = body_[id];
    const double all = elements(node.type);
    const double part = all == 0 ? 0 : std::min(1.0, read_[at(id)] / all);
    switch (node.op->family) {
      case OpFamily::view:
      case OpFamily::gather:
        read(node, 0, part * std::min(all, elements(body_[node.operands[0]].type)));
        if (node.operands.size() > 1) read(node, 1, part * elements(body_[node.operands[1]].type));
        return;
      case OpFamily::contract:
        result_.flops += 2 * size(node.as<llir::Contract>().left.shape().numel());
        result_.matrix = wider(narrowest(node.operands[0]), narrowest(node.operands[1]));
        break;
      case OpFamily::unary:
      case OpFamily::binary:
      case OpFamily::select:
        result_.flops += part * all;
        break;
      case OpFamily::reduce:
      case OpFamily::scan:
        result_.flops += part * elements(body_[node.operands[0]].type);
        break;
      default:
        break;
    }
    for (size_t k = changes_in_place(node) ? 1 : 0; k < node.operands.size(); ++k) {
      read(node, k, part * elements(body_[node.operands[k]].type));
    }
  }
  void read(const Node& node, size_t operand, double count) { read_[at(node.operands[operand])] += count; }

  const Graph& body_;
  const DimValues& dims_;
  std::vector<double> read_;  // by node: elements, at most all of them count
  Work result_;
};

}  // namespace

Work work_of(const Graph& body, const DimValues& dims) { return Count(body, dims).run(); }

}  // namespace lumen
