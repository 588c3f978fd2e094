// Substitution: an expression is built again from its variables, so the result is normal by construction.
#include <algorithm>
#include <boost/unordered/unordered_flat_map.hpp>

#include "lumen/base/check.h"
#include "lumen/ir/expr_node.h"

namespace lumen {
namespace {

class Rebuild {
 public:
  explicit Rebuild(Substitution what) : what_(what) {}

  Expr operator()(const ExprNode* n) {
    if (n->kind == ExprKind::constant) return Expr(n);
    if (const auto known = done_.find(n); known != done_.end()) return known->second;
    const Expr result = build(n);
    done_.emplace(n, result);
    return result;
  }

 private:
  Expr build(const ExprNode* n) {
    const auto given = std::ranges::find_if(what_, [&](const auto& p) { return p.first.node() == n; });
    if (given != what_.end()) return given->second;
    switch (n->kind) {
      case ExprKind::constant:
      case ExprKind::dim:
      case ExprKind::undefined:
        return Expr(n);
      case ExprKind::index:
        return Expr::index(static_cast<int>(n->number), (*this)(n->args[0]));
      case ExprKind::sum:
        return sum(n);
      case ExprKind::floor_div:
        return floor_div((*this)(n->args[0]), (*this)(n->args[1]));
      case ExprKind::min:
        return fold(n, min);
      case ExprKind::max:
        return fold(n, max);
      case ExprKind::all:
        return fold(n, logical_and);
      case ExprKind::any:
        return fold(n, logical_or);
      case ExprKind::product:
        return fold(n, [](Expr a, Expr b) { return a * b; });
      case ExprKind::ge0:
        return ge((*this)(n->args[0]), 0);
      case ExprKind::eq0:
        return eq((*this)(n->args[0]), 0);
      case ExprKind::ne0:
        return ne((*this)(n->args[0]), 0);
    }
    return Expr(n);
  }

  Expr sum(const ExprNode* n) {
    Expr total = n->constant;
    for (const Term& t : n->terms) {
      Expr product = t.coefficient;
      for (const ExprNode* a : t.atoms) product *= (*this)(a);
      total += product;
    }
    return total;
  }

  template <class Combine>
  Expr fold(const ExprNode* n, Combine combine) {
    Expr result = (*this)(n->args[0]);
    for (const ExprNode* a : n->args.subspan(1)) result = combine(result, (*this)(a));
    return result;
  }

  Substitution what_;
  boost::unordered_flat_map<const ExprNode*, Expr> done_;
};

}  // namespace

Expr substitute(Expr e, Substitution what) {
  for (const auto& [from, to] : what) {
    CHECK(from.kind() == ExprKind::dim || from.kind() == ExprKind::index || from.is_constant(),
          "only variables can be replaced");
  }
  return Rebuild(what)(e.node());
}

Expr renormalise(Expr e) { return Rebuild({})(e.node()); }

}  // namespace lumen
