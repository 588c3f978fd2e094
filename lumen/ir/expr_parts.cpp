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

bool mentions_index(const ExprNode* n) {
  if (n->kind == ExprKind::index) return true;
  if (std::ranges::any_of(n->args, mentions_index)) return true;
  return n->kind == ExprKind::sum &&
         std::ranges::any_of(n->terms, [](const Term& t) { return std::ranges::any_of(t.atoms, mentions_index); });
}

void collect_divisions(const ExprNode* n, std::vector<std::pair<Expr, Expr>>& out) {
  if (n->kind == ExprKind::index) return;
  for (const ExprNode* arg : n->args) collect_divisions(arg, out);
  if (n->kind == ExprKind::floor_div) {
    const std::pair<Expr, Expr> found{Expr(n->args[0]), Expr(n->args[1])};
    if (std::ranges::find(out, found) == out.end()) out.push_back(found);
  }
  if (n->kind != ExprKind::sum) return;
  for (const Term& term : n->terms) {
    for (const ExprNode* atom : term.atoms) collect_divisions(atom, out);
  }
}

}  // namespace

bool has_index(Expr e) { return mentions_index(e.node()); }

std::vector<std::pair<Expr, Expr>> divisions(Expr e) {
  std::vector<std::pair<Expr, Expr>> found;
  collect_divisions(e.node(), found);
  return found;
}

std::optional<Expr> step_along(Expr e, Expr variable) {
  if (variable.is_constant()) return Expr(0);
  // Two places apart, in a variable without bounds that could hide a division.
  const Expr free = Expr::dim("step_along", 0, INT32_MAX);
  const std::pair<Expr, Expr> here[] = {{variable, free}}, next[] = {{variable, free + 1}};
  const Expr step = substitute(e, next) - substitute(e, here);
  return depends_on(step, free) ? std::nullopt : std::optional(step);
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
