#include "lumen/codegen/attention_outside.h"

#include <algorithm>
#include <map>
#include <optional>

#include "lumen/codegen/attention_walk.h"
#include "lumen/codegen/constant_of.h"
#include "lumen/codegen/element_ops.h"
#include "lumen/hlir/binary.h"
#include "lumen/hlir/leaves.h"
#include "lumen/hlir/select.h"
#include "lumen/hlir/view.h"
#include "lumen/kernel/contract.h"

namespace lumen {

namespace {

bool is_zero(const Graph& graph, NodeId id) { return constant_of(graph, id) == 0.0; }

// The graph anew, node by node, with another second Contract.
class Outside {
 public:
  explicit Outside(const Graph& body) : body_(body), made_(std::make_shared<Graph>()) {
    for (const Expr& dim : body.dims()) {
      const auto [lo, hi] = dim.dim_bounds();
      made_->add_dim(dim.dim_name(), lo, hi).value();
    }
  }

  std::shared_ptr<Graph> run() {
    size_t contracts = 0;
    for (const NodeId id : body_.order()) {
      const Node& node = body_[id];
      if (node.is<Input>()) {
        copies_[id] = made_->add_input(node.as<Input>()).value();
        continue;
      }
      const bool second = node.is<llir::Contract>() && ++contracts == 2;
      std::vector<NodeId> operands;
      for (const NodeId operand : node.operands) operands.push_back(copies_.at(operand));
      copies_[id] =
          second ? contract(node.as<llir::Contract>(), operands) : made_->add(*node.op, node.fields, operands).value();
    }
    for (const Output& output : body_.outputs()) made_->add_output(output.name.str(), copies_.at(output.value)).value();
    return made_;
  }

 private:
  Graph& graph() { return *made_; }

  // An operand x*r, x/r or select(c, 0, x) becomes x, and the rest is applied to the sum.
  NodeId contract(llir::Contract op, std::vector<NodeId> operands) {
    for (const size_t side : {size_t{0}, size_t{1}}) {
      const Node& node = graph()[operands[side]];
      const View& view = side == 0 ? op.left : op.right;
      const bool divides = node.is<hlir::Div>();
      for (size_t k = divides ? 1 : 0; (node.is<hlir::Mul>() || divides) && k < 2; ++k) {
        if (!is_same_for_all(view, node.operands[k])) continue;
        const NodeId factor = at_first(view, node.operands[k]);
        operands[side] = node.operands[1 - k];
        const NodeId parts[] = {contract(op, operands), factor};
        return divides ? graph().add(hlir::Div{}, parts).value() : graph().add(hlir::Mul{}, parts).value();
      }
      for (size_t k = 1; node.is<hlir::Select>() && k < 3; ++k) {
        if (!is_zero(graph(), node.operands[k]) || !is_same_for_all(view, node.operands[0])) continue;
        NodeId parts[] = {at_first(view, node.operands[0]), at_first(view, node.operands[k]), {}};
        operands[side] = node.operands[3 - k];
        parts[2] = contract(op, operands);
        if (k == 2) std::swap(parts[1], parts[2]);
        return graph().add(hlir::Select{}, parts).value();
      }
    }
    return graph().add(op, operands).value();
  }

  static Expr summed(const View& view) {
    const int64_t last = view.shape().rank() - 1;
    return Expr::index(static_cast<int>(last), view.shape()[last]);
  }

  // Whether elements that `view` reads do not change along the summed axis.
  bool is_same_for_all(const View& view, NodeId id) {
    const Expr key = summed(view);
    if (view.has_guard() || key.is_constant()) return false;
    const ElementWriter writer(graph(), 0);
    // In the writer's names of dims.
    const Expr renamed = Expr::index(key.index_number(), writer.rename(key.index_extent()));
    const std::vector<Expr> at = unflatten(writer.rename(view.index()), writer.rename(graph()[id].type.shape));
    return is_free_of(writer, {id, at}, renamed);
  }

  bool is_free_of(const ElementWriter& writer, const Element& here, Expr key) {
    const Node& node = graph()[here.node];
    if (node.is<hlir::Constant>()) return true;
    if (node.is<hlir::View>()) {
      const View& view = node.as<hlir::View>().view;
      const NodeId source = node.operands[0];
      const Expr flat = writer.place(view.index(), view.shape(), here.at);
      return !depends_on(writer.place(view.guard(), view.shape(), here.at), key) &&
             is_free_of(writer, {source, unflatten(flat, writer.rename(graph()[source].type.shape))}, key);
    }
    if (is_element_op(node)) {
      return std::ranges::all_of(node.operands, [&](NodeId operand) {
        return is_free_of(writer, {operand, here.at}, key);
      });
    }
    return std::ranges::none_of(here.at, [&](Expr e) { return depends_on(e, key); });
  }

  // What `view` reads at the first place of the summed axis, by the dims of the result.
  NodeId at_first(const View& view, NodeId id) {
    const std::vector<Expr> dims(view.shape().begin(), view.shape().end() - 1);
    const std::pair<Expr, Expr> first[] = {{summed(view), 0}};
    return graph().add(hlir::View{View(Shape(dims), substitute(view.index(), first))}, std::span(&id, 1)).value();
  }

  const Graph& body_;
  std::shared_ptr<Graph> made_;
  std::map<NodeId, NodeId> copies_;
};

}  // namespace

std::shared_ptr<Graph> with_row_factors_outside(const Graph& body) { return Outside(body).run(); }

}  // namespace lumen
