#include <algorithm>

#include "lumen/ir/expr_parts.h"
#include "lumen/ir/expr_prove.h"
#include "lumen/ir/view_parts.h"

namespace lumen {

namespace {

constexpr int kFirstNewVariable = 1000;  // far above any rank
constexpr size_t kMaxSplits = 16;

using Products = std::vector<std::pair<Expr, Expr>>;

size_t count_indices(Expr e) {
  const std::vector<Expr> all = variables(e);
  return static_cast<size_t>(std::ranges::count(all, ExprKind::index, &Expr::kind));
}

bool are_opposite(const Products& a, const Products& b) {
  return std::ranges::equal(a, b,
                            [](const auto& x, const auto& y) { return x.first == y.first && x.second == -y.second; });
}

// The largest value of the terms, when the signs of the coefficients are known.
std::optional<Expr> upper_bound(const Products& terms) {
  Expr bound = 0;
  for (const auto& [variable, coefficient] : terms) {
    if (prove_ge0(-coefficient)) continue;
    if (!prove_ge0(coefficient)) return std::nullopt;
    bound += coefficient * (variable.index_extent() - 1);
  }
  return bound;
}

// For `terms` + rest >= 0: the largest value of `terms`, from an opposite condition or from the variables' ranges.
std::optional<Expr> upper_bound(const Products& terms, std::span<const Expr> conditions) {
  for (const Expr& condition : conditions) {
    const auto other = linear_in_indices(condition);
    if (other && are_opposite(terms, other->terms)) return other->rest;
  }
  return upper_bound(terms);
}

}  // namespace

Expr CoordinateChange::new_variable(Expr extent) { return Expr::index(kFirstNewVariable + variables_++, extent); }

void CoordinateChange::add(Step step) {
  std::erase_if(step.out_of, [](const auto& pair) { return pair.first.is_constant(); });
  steps_.push_back(std::move(step));
}

bool CoordinateChange::split(Expr e) {
  const size_t before = steps_.size();
  e = enter(e);
  while (steps_.size() < before + kMaxSplits) {
    const std::vector<std::pair<Expr, Expr>> found = divisions(e);
    const auto at = std::ranges::find_if(found, [](const auto& division) {
      const auto& [i, d] = division;
      return i.kind() == ExprKind::index && !has_index(d) && floor_div(i.index_extent(), d) * d == i.index_extent();
    });
    if (at == found.end()) break;
    const auto [i, d] = *at;
    const Expr high = new_variable(floor_div(i.index_extent(), d));
    const Expr low = new_variable(d);
    add({{i, d * high + low}, {{high, floor_div(i, d)}, {low, mod(i, d)}}});
    e = substitute(e, {&steps_.back().into, 1});
  }
  return steps_.size() > before;
}

void CoordinateChange::tighten(Expr guard, Expr index) {
  index = enter(index);
  std::vector<Expr> conditions;  // each >= 0, in the variables after the steps so far
  for (const Expr& condition : conjuncts(enter(guard))) {
    if (const auto e = ge0_argument(condition)) conditions.push_back(*e);
  }
  for (const bool single : {true, false}) {  // conditions on one coordinate first: they lose nothing
    for (size_t c = 0; c < conditions.size() && !void_; ++c) {
      const auto linear = linear_in_indices(conditions[c]);
      if (!linear || linear->terms.empty() || (linear->terms.size() == 1) != single) continue;
      if (prove_ge0(conditions[c])) continue;
      const auto pivot = std::ranges::find_if(
          linear->terms, [](const auto& term) { return term.second == Expr(1) || term.second == Expr(-1); });
      const auto bound = upper_bound(linear->terms, conditions);
      if (pivot == linear->terms.end() || !bound) continue;
      const Expr extent = linear->rest + *bound + 1;
      const Expr u = new_variable(extent);
      const auto [variable, sign] = *pivot;
      const std::pair<Expr, Expr> into{variable, sign * (u - (conditions[c] - sign * variable))};
      const Expr changed = substitute(index, {&into, 1});
      if (!single && count_indices(changed) >= count_indices(index)) continue;
      void_ = prove_ge0(-extent);
      add({into, {{u, conditions[c]}}});
      index = changed;
      for (Expr& condition : conditions) condition = substitute(condition, {&into, 1});
    }
  }
}

Expr CoordinateChange::enter(Expr e) const {
  for (const Step& step : steps_) e = substitute(e, {&step.into, 1});
  return e;
}

Expr CoordinateChange::leave(Expr e) const {
  for (size_t k = steps_.size(); k-- > 0;) e = substitute(e, steps_[k].out_of);
  return e;
}

}  // namespace lumen
