#include "lumen/ir/expr_parts.h"

#include <algorithm>

#include "lumen/ir/expr_node.h"

namespace lumen {

std::vector<Expr> conjuncts(Expr guard) {
  if (guard == Expr(1)) return {};
  if (guard.kind() != ExprKind::all) return {guard};
  std::vector<Expr> out;
  for (const ExprNode* n : guard.node()->args) out.push_back(Expr(n));
  return out;
}

std::optional<Expr> ge0_argument(Expr condition) {
  if (condition.kind() != ExprKind::ge0) return std::nullopt;
  return Expr(condition.node()->args[0]);
}

namespace {

bool any_node(const ExprNode* n, bool (*wanted)(const ExprNode*)) {
  if (wanted(n)) return true;
  if (n->kind == ExprKind::index) return false;  // what is in an extent is not in the expression
  const auto inside = [&](const ExprNode* a) { return any_node(a, wanted); };
  if (std::ranges::any_of(n->args, inside)) return true;
  return n->kind == ExprKind::sum &&
         std::ranges::any_of(n->terms, [&](const Term& t) { return std::ranges::any_of(t.atoms, inside); });
}

}  // namespace

bool has_index(Expr e) {
  return any_node(e.node(), [](const ExprNode* n) { return n->kind == ExprKind::index; });
}

bool has_division(Expr e) {
  return any_node(e.node(), [](const ExprNode* n) { return n->kind == ExprKind::floor_div; });
}

std::optional<Linear> linear_in_indices(Expr e) {
  Linear out{{}, e.node()->constant};
  for (const Term& t : e.node()->terms) {
    const ExprNode* coordinate = nullptr;
    Expr rest = t.coefficient;
    for (const ExprNode* a : t.atoms) {
      if (a->kind == ExprKind::index) {
        if (coordinate != nullptr) return std::nullopt;
        coordinate = a;
      } else if (has_index(Expr(a))) {
        return std::nullopt;
      } else {
        rest *= Expr(a);
      }
    }
    if (coordinate == nullptr) {
      out.rest += rest;
      continue;
    }
    const auto at = std::ranges::find_if(out.terms, [&](const auto& p) { return p.first == Expr(coordinate); });
    if (at == out.terms.end()) {
      out.terms.emplace_back(Expr(coordinate), rest);
    } else {
      at->second += rest;
    }
  }
  std::ranges::sort(out.terms, [](const auto& a, const auto& b) { return compare(a.first, b.first) < 0; });
  return out;
}

}  // namespace lumen
