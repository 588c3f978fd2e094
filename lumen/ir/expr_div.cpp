// Floor division. Mod and ceil-div are spelled with it.
//
// For b > 0 the laws, tried in this order, are
//   (q*b + r) / b      = q + r/b
//   r / b              = k                  when k*b <= r < (k+1)*b is proven
//   (g*x + r) / (g*b)  = (x + k) / b        when r/g = k is decided as above, for a factor g > 0 of the divisor
//   (x/y + e) / b      = (x + e*y) / (y*b)  for y > 0
//   a / b              = -((-a - 1)/b) - 1  when the first coefficient of a is negative
// Each result is divided again, so what is left is a fixed point of all of them.
#include <algorithm>

#include "lumen/ir/expr_divisibility.h"
#include "lumen/ir/expr_node.h"
#include "lumen/ir/expr_prove.h"

namespace lumen {
namespace {

size_t term_count(Expr e) { return e.node()->terms.size() + (e.node()->constant != 0 ? 1 : 0); }

// The constant k with k*b <= r < (k+1)*b for all values, if one is proven.
std::optional<int64_t> decided_quotient(Expr r, Expr b, std::span<const Expr> given) {
  const Interval by_bounds = floor_div(bounds(r), bounds(b));
  if (by_bounds.is_point()) return by_bounds.lo;
  if (by_bounds.lo > 0 || by_bounds.hi < -1) return std::nullopt;
  if (by_bounds.hi >= 0 && prove_ge0(r, given)) {
    if (prove_ge0(b - r - 1, given)) return 0;
  } else if (by_bounds.lo < 0 && prove_ge0(-r - 1, given) && prove_ge0(r + b, given)) {
    return -1;
  }
  return std::nullopt;
}

// The largest monomial that divides every term.
Expr content(Expr e) {
  const ExprNode& n = *e.node();
  Expr g = Expr(intern_sum(0, n.terms.subspan(0, 1)));
  for (const Term& t : n.terms.subspan(1)) g = common_factor(g, Expr(intern_sum(0, std::span(&t, 1))));
  return n.constant != 0 ? common_factor(g, n.constant) : common_factor(g, g);
}

std::optional<Expr> divide_by_factor(Expr r, Expr b, std::span<const Expr> given) {
  const Expr whole = b.is_constant() ? b : content(b);
  if (term_count(b) > 1 && !(whole == Expr(1))) {
    const std::optional<Expr> primitive = exact_quotient(b, whole);
    if (primitive && prove_ge0(*primitive - 1, given)) {
      const Division parts = divide_terms(r, *primitive);
      if (const auto k = decided_quotient(parts.rest, *primitive, given)) return floor_div(parts.quotient + *k, whole);
    }
  }
  std::vector<Expr> tried = {1, b};
  for (const Term& t : r.node()->terms) {
    const Expr g = common_factor(Expr(intern_sum(0, std::span(&t, 1))), whole);
    if (std::ranges::find(tried, g) != tried.end()) continue;
    tried.push_back(g);
    if (!prove_ge0(g - 1, given)) continue;
    const std::optional<Expr> smaller = exact_quotient(b, g);
    if (!smaller) continue;
    const Division parts = divide_terms(r, g);
    if (const auto k = decided_quotient(parts.rest, g, given)) return floor_div(parts.quotient + *k, *smaller);
  }
  return std::nullopt;
}

std::optional<Expr> divide_nested(Expr r, Expr b) {
  const Expr given[] = {r};
  for (const Term& t : r.node()->terms) {
    if (t.coefficient != 1 || t.atoms.size() != 1 || t.atoms[0]->kind != ExprKind::floor_div) continue;
    const Expr x(t.atoms[0]->args[0]);
    const Expr y(t.atoms[0]->args[1]);
    if (!prove_ge0(y - 1, given)) continue;
    const Expr numerator = x + (r - Expr(t.atoms[0])) * y;
    const Expr denominator = y * b;
    if (numerator.kind() == ExprKind::undefined || denominator.kind() == ExprKind::undefined) continue;
    return floor_div(numerator, denominator);
  }
  return std::nullopt;
}

Expr atom(Expr a, Expr b) {
  const ExprNode* args[] = {a.node(), b.node()};
  return Expr(intern_atom(ExprKind::floor_div, args));
}

Expr quotient(Expr a, Expr b) {
  const Expr given[] = {a, b};
  if (!prove_ge0(b - 1, given)) {
    if (!b.is_constant() && prove_ge0(-b - 1, given)) return floor_div(-a, -b);
    return atom(a, b);
  }
  const Division parts = divide_terms(a, b);
  if (!(parts.quotient == Expr(0)) && (b.node()->terms.size() <= 1 || term_count(parts.rest) < term_count(a))) {
    return parts.quotient + floor_div(parts.rest, b);
  }
  if (const auto k = decided_quotient(a, b, given)) return *k;
  if (const auto e = divide_by_factor(a, b, given)) return *e;
  if (const auto e = divide_nested(a, b)) return *e;
  if ((a.is_constant() ? *a.constant() : a.node()->terms[0].coefficient) < 0) {
    const Expr mirrored = -a - 1;
    if (mirrored.kind() != ExprKind::undefined) return -floor_div(mirrored, b) - 1;
  }
  return atom(a, b);
}

}  // namespace

Expr floor_div(Expr a, Expr b) {
  if (a.kind() == ExprKind::undefined || b.kind() == ExprKind::undefined || b == Expr(0)) return Expr::undefined();
  if (b == Expr(1)) return a;
  if (b.is_constant() && *b.constant() < 0) return floor_div(-a, -b);
  if (const ExprNode* known = recall(MemoOp::floor_div, a.node(), b.node())) return Expr(known);
  const Expr result = quotient(a, b);
  remember(MemoOp::floor_div, a.node(), b.node(), result.node());
  return result;
}

Expr mod(Expr a, Expr b) { return a - b * floor_div(a, b); }

Expr ceil_div(Expr a, Expr b) {
  if (prove_ge0(b - 1)) return floor_div(a + b - 1, b);
  return -floor_div(-a, b);
}

}  // namespace lumen
