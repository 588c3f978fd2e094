#include "lumen/codegen/attention_form.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "lumen/codegen/attention_outside.h"
#include "lumen/codegen/attention_sharers.h"
#include "lumen/hlir/reduce.h"
#include "lumen/hlir/unary.h"
#include "lumen/hlir/view.h"
#include "lumen/kernel/contract.h"

namespace lumen {

namespace {

constexpr double kSameFactor = 1e-5;  // constants of f32 that were multiplied in different orders

bool moves(const View& view, int64_t dim) {
  const Expr coordinate = Expr::index(static_cast<int>(dim), view.shape()[dim]);
  return depends_on(view.index(), coordinate) || depends_on(view.guard(), coordinate);
}

bool reaches(const Graph& graph, NodeId from, NodeId target) {
  if (from == target) return true;
  return std::ranges::any_of(graph[from].operands, [&](NodeId each) { return reaches(graph, each, target); });
}

NodeId add_view(Graph& graph, const View& view, NodeId operand) {
  return graph.add(hlir::View{view}, std::span(&operand, 1)).value();
}

class Recogniser {
 public:
  Recogniser(const Graph& body, bool sums) : may_sum_(sums) { form_.graph = with_row_factors_outside(body); }

  Expected<AttentionForm> run() {
    LUMEN_TRY(find_ops());
    LUMEN_TRY(find_weights());
    LUMEN_TRY(find_scores());
    LUMEN_TRY(find_total());
    LUMEN_TRY(find_queries());
    LUMEN_TRY(find_steepness());
    form_.sharers = sharers_of(form_);
    return std::move(form_);
  }

 private:
  Graph& graph() { return *form_.graph; }
  Expr key() const { return Expr::index(3, form_.keys()); }

  Expected<void> find_ops() {
    for (const NodeId id : graph().order()) {
      const Node& node = graph()[id];
      if (node.is<llir::Contract>()) contracts_.push_back(id);
      if (node.is<hlir::MaxReduce>()) tops_.push_back(id);
      const bool before = may_sum_ && contracts_.empty();
      if (node.is<hlir::SumReduce>() && before) form_.sums_queries = true;
      if (node.is<hlir::SumReduce>() && !before) sums_.push_back(id);
      const bool computed = node.is<llir::Contract>() || node.op->family == OpFamily::reduce;
      if (computed && node.type.dtype != f32) {
        return error(fmt::format("attention is computed in f32, not {}", node.type.str()));
      }
    }
    if (contracts_.size() == 2 && tops_.size() == 1 && sums_.size() <= 1) return {};
    return error(fmt::format("attention has two Contracts, one MaxReduce and one SumReduce, not {}, {} and {}",
                             contracts_.size(), tops_.size(), sums_.size()));
  }

  // Which operand of the second Contract has the weights, and the coordinates that follow from its views.
  Expected<void> find_weights() {
    const Node& node = graph()[contracts_[1]];
    const auto op = node.as<llir::Contract>();
    const bool left = reaches(graph(), node.operands[0], contracts_[0]);
    const View& mine = left ? op.left : op.right;
    const View& other = left ? op.right : op.left;
    const NodeId operands[] = {node.operands[left ? 0 : 1], node.operands[left ? 1 : 0]};
    NodeId weights = operands[0];
    while (graph()[weights].is<hlir::View>()) weights = graph()[weights].operands[0];
    if (!graph()[weights].is<hlir::Exp2>() || reaches(graph(), operands[1], contracts_[0]) || op.reduced != 1) {
      return error("the second Contract of attention sums products of Exp2 and values over one axis");
    }
    ContractRoles& roles = form_.second;
    roles.contracts = {contracts_[1]};
    roles.dtype = f32;
    roles.rows = add_view(graph(), mine, operands[0]);
    roles.columns = {add_view(graph(), other, operands[1])};
    place_dims(mine, other, graph()[contracts_[1]].type.shape);
    form_.result = {contracts_[1], {roles.at_result().begin(), roles.at_result().end()}};
    const auto at = source_place(graph(), {roles.rows, roles.at}, weights);
    if (!at) return error("the weights of attention are guarded");
    form_.weights = {weights, *at};
    return {};
  }

  void place_dims(const View& mine, const View& other, const Shape& result) {
    ContractRoles& roles = form_.second;
    const ElementWriter writer(graph(), 0);
    roles.domain = writer.rename(mine.shape());
    roles.result = writer.rename(result);
    const int64_t last = roles.domain.rank() - 1;
    std::array<std::vector<int64_t>, kRoles> dims;
    std::vector<int64_t> rows;
    for (int64_t d = 0; d < last; ++d) {
      const bool moves_mine = moves(mine, d), moves_other = moves(other, d);
      std::vector<int64_t>& own = moves_mine == moves_other ? dims[static_cast<size_t>(Role::batch)]
                                  : moves_mine              ? rows
                                                            : dims[static_cast<size_t>(Role::column)];
      own.push_back(d);
    }
    for (const int64_t d : rows) dims[static_cast<size_t>(d == rows.back() ? Role::row : Role::batch)].push_back(d);
    dims[static_cast<size_t>(Role::summed)] = {last};
    roles.at.resize(static_cast<size_t>(roles.domain.rank()));
    for (size_t r = 0; r < kRoles; ++r) {
      std::vector<Expr> extents;
      for (const int64_t d : dims[r]) extents.push_back(roles.domain[d]);
      const Shape axis(extents);
      roles.extents[r] = axis.numel();
      const std::vector<Expr> within = unflatten(Expr::index(static_cast<int>(r), axis.numel()), axis);
      for (size_t k = 0; k < within.size(); ++k) roles.at[static_cast<size_t>(dims[r][k])] = within[k];
    }
  }

  Expected<void> find_scores() {
    const NodeId top = tops_[0];
    const NodeId scores = graph()[top].operands[0];
    const auto at = source_place(graph(), form_.weights, top);
    const bool by_row = at && std::ranges::none_of(*at, [&](Expr e) { return depends_on(e, key()); });
    const int64_t axis = graph()[top].as<hlir::MaxReduce>().axis;
    const ElementWriter writer(graph(), 0);
    if (!by_row || writer.rename(graph()[scores].type.shape)[axis] != form_.keys()) {
      return error("the weights of attention do not depend on the maximum of their row");
    }
    form_.top = {top, *at};
    form_.scores = {scores, *at};
    form_.scores.at.insert(form_.scores.at.begin() + axis, key());
    const auto product = source_place(graph(), form_.scores, contracts_[0]);
    if (!product) return error("a score of attention is not a function of one element of a Contract");
    form_.product = {contracts_[0], *product};
    return {};
  }

  Expected<void> find_total() {
    if (sums_.empty()) return {};
    const Node& node = graph()[sums_[0]];
    const auto axis = static_cast<size_t>(node.as<hlir::SumReduce>().axis);
    std::vector<Expr> at = form_.weights.at;
    const bool same = node.operands[0] == form_.weights.node && at[axis] == key();
    at.erase(at.begin() + static_cast<ptrdiff_t>(axis));
    if (!same || std::ranges::any_of(at, [&](Expr e) { return depends_on(e, key()); })) {
      return error("the SumReduce of attention is not that of its weights over the keys");
    }
    form_.total = Element{sums_[0], at};
    return {};
  }

  Expected<void> find_queries() {
    const Node& node = graph()[contracts_[0]];
    const auto op = node.as<llir::Contract>();
    const NodeId operands[] = {node.operands[0], node.operands[1]};
    ContractRoles& roles = form_.first;
    const ElementWriter writer(graph(), 0);
    roles.contracts = {contracts_[0]};
    roles.dtype = f32;
    roles.domain = writer.rename(op.left.shape());
    roles.result = writer.rename(node.type.shape);
    const std::vector<Expr> summed(roles.domain.begin() + roles.result.rank(), roles.domain.end());
    roles.extents = {form_.batch(), form_.rows(), form_.keys(), Shape(summed).numel()};
    const std::pair<Expr, Expr> to_column[] = {{key(), Expr::index(2, form_.keys())}};
    for (const Expr& e : form_.product.at) roles.at.push_back(key().is_constant() ? e : substitute(e, to_column));
    const Expr depth = Expr::index(3, roles.extent(Role::summed));
    for (const Expr& e : unflatten(depth, Shape(summed))) roles.at.push_back(e);
    const auto depends = [&](const View& view, Expr variable) {
      return depends_on(writer.place(view.index(), view.shape(), roles.at), variable) ||
             depends_on(writer.place(view.guard(), view.shape(), roles.at), variable);
    };
    const Expr column = Expr::index(2, form_.keys()), row = Expr::index(1, form_.rows());
    const bool swapped = depends(op.left, column) || depends(op.right, row);
    const View& queries = swapped ? op.right : op.left;
    const View& keys = swapped ? op.left : op.right;
    if (depends(queries, column) || depends(keys, row)) {
      return error("the first Contract of attention is not one of queries by row and keys by column");
    }
    roles.rows = add_view(graph(), queries, operands[swapped ? 1 : 0]);
    roles.columns = {add_view(graph(), keys, operands[swapped ? 0 : 1])};
    return {};
  }

  // The exponent is a*s - a*m and what has nothing to do with m.
  Expected<void> find_steepness() {
    const NodeId exponent = graph()[form_.weights.node].operands[0];
    LinearForm form = linear_form(graph(), {exponent, form_.weights.at});
    const LinearForm scores = linear_form(graph(), form_.scores);
    form_.steepness = -form.terms[form_.top];
    const double a = form_.steepness;
    bool fits = a > 0 && std::isfinite(a);
    for (const auto& [element, factor] : scores.terms) {
      const auto found = form.terms.find(element);
      fits = fits && found != form.terms.end() &&
             std::abs(found->second - a * factor) <= kSameFactor * std::abs(a * factor);
    }
    for (const auto& [element, factor] : form.terms) {
      fits = fits && (element == form_.top || !reaches(graph(), element.node, form_.top.node));
    }
    form_.at_most_one = form.terms.size() == scores.terms.size() + 1 &&
                        std::abs(form.constant - a * scores.constant) <= kSameFactor * std::abs(form.constant);
    if (scores.terms.size() == 1 && scores.terms.begin()->first == form_.product && scores.constant == 0) {
      form_.scale = scores.terms.begin()->second;
    }
    if (fits) return {};
    return error("the weights of attention are not Exp2 of a multiple of the scores less their maximum");
  }

  bool may_sum_;
  AttentionForm form_;
  std::vector<NodeId> contracts_, tops_, sums_;
};

}  // namespace

Expected<AttentionForm> attention_form(const Graph& body, bool sums) {
  AttentionForm form = LUMEN_TRY(Recogniser(body, sums).run());
  for (ContractRoles* roles : {&form.first, &form.second}) {
    roles->graph = form.graph;
    roles->widths.fill(1);
  }
  return form;
}

}  // namespace lumen
