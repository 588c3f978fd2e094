// Comparisons, logic, min and max.
//
// Every comparison becomes e >= 0, e == 0 or e != 0 with the common factor of the coefficients divided out.
// Conjunctions drop what the others imply; disjunctions are the negation of a conjunction of negations.
#include <algorithm>

#include "lumen/ir/expr_divisibility.h"
#include "lumen/ir/expr_node.h"
#include "lumen/ir/expr_prove.h"

namespace lumen {
namespace {

constexpr size_t kMaxPairwise = 12;  // beyond, arguments are only sorted and deduplicated

bool is_boolean(Expr e) {
  return e.node()->is_boolean() || (e.is_constant() && (*e.constant() == 0 || *e.constant() == 1));
}

Expr intern_logic(ExprKind kind, const std::vector<Expr>& args) {
  std::vector<const ExprNode*> nodes;
  for (const Expr a : args) nodes.push_back(a.node());
  return Expr(intern_atom(kind, nodes));
}

// For e = c + k*b with one 0/1 atom b: a condition on e is 0, 1, b or not b.
std::optional<Expr> of_one_boolean(Expr e, bool (*condition)(__int128)) {
  const ExprNode& n = *e.node();
  if (n.terms.size() != 1 || n.terms[0].atoms.size() != 1 || !n.terms[0].atoms[0]->is_boolean()) return std::nullopt;
  const Expr b(n.terms[0].atoms[0]);
  const bool off = condition(n.constant);
  const bool on = condition(static_cast<__int128>(n.constant) + n.terms[0].coefficient);
  if (on == off) return Expr(on ? 1 : 0);
  return on ? b : logical_not(b);
}

// The greatest common divisor of the coefficients (not of the constant).
int64_t coefficient_gcd(Expr e) { return known_divisor(Expr(intern_sum(0, e.node()->terms))); }

// x/y + c >= 0 is x + c*y >= 0, and c - x/y >= 0 is (c+1)*y - x - 1 >= 0, for y > 0: the division goes.
std::optional<Expr> without_quotient(Expr e) {
  for (const Term& t : e.node()->terms) {
    if (t.atoms.size() != 1 || t.atoms[0]->kind != ExprKind::floor_div) continue;
    if (t.coefficient != 1 && t.coefficient != -1) continue;
    const Expr q(t.atoms[0]);
    const Expr x(q.node()->args[0]);
    const Expr y(q.node()->args[1]);
    const Expr given[] = {e};
    if (!prove_ge0(y - 1, given)) continue;
    const Expr product = t.coefficient == 1 ? x + (e - q) * y : (e + q + 1) * y - x - 1;
    if (product.kind() != ExprKind::undefined) return product;
  }
  return std::nullopt;
}

Expr ge0(Expr e) {
  if (e.kind() == ExprKind::undefined) return e;
  if (prove_ge0(e)) return 1;
  if (prove_ge0(-e - 1)) return 0;
  if (const auto b = of_one_boolean(e, [](__int128 v) { return v >= 0; })) return *b;
  const int64_t g = coefficient_gcd(e);
  if (g > 1) {
    const Division parts = divide_terms(e, g);
    return ge0(parts.quotient);
  }
  if (const auto product = without_quotient(e)) return ge0(*product);
  return intern_logic(ExprKind::ge0, {e});
}

// e == 0 (or, negated, e != 0).
Expr equals_zero(Expr e, bool negated) {
  if (e.kind() == ExprKind::undefined) return e;
  if (e.is_constant()) return (*e.constant() == 0) != negated ? 1 : 0;
  const auto decided = negated ? of_one_boolean(e, [](__int128 v) { return v != 0; })
                               : of_one_boolean(e, [](__int128 v) { return v == 0; });
  if (decided) return *decided;
  const int64_t g = coefficient_gcd(e);
  if (g > 1) {
    if (e.node()->constant % g != 0) return negated ? 1 : 0;
    return equals_zero(divide_terms(e, g).quotient, negated);
  }
  const bool not_below = prove_ge0(e);
  const bool not_above = prove_ge0(-e);
  if (not_below && not_above) return negated ? 0 : 1;
  if ((not_below && prove_ge0(e - 1)) || (not_above && prove_ge0(-e - 1))) return negated ? 1 : 0;
  const Expr flipped = -e;
  if (e.node()->terms[0].coefficient < 0 && flipped.kind() != ExprKind::undefined) e = flipped;
  return intern_logic(negated ? ExprKind::ne0 : ExprKind::eq0, {e});
}

Expr truth(Expr e) { return is_boolean(e) ? e : equals_zero(e, true); }

std::optional<Expr> ge0_of(Expr e) {
  if (e.kind() != ExprKind::ge0) return std::nullopt;
  return Expr(e.node()->args[0]);
}

bool implies(Expr a, Expr b) {
  if (a == b) return true;
  const auto x = ge0_of(a);
  const auto y = ge0_of(b);
  if (x && y) return prove_ge0(*y - *x);
  return false;
}

// Drops every element that a kept one makes redundant; ties keep the earlier one.
template <class Redundant>
std::vector<Expr> keep_minimal(const std::vector<Expr>& args, Redundant redundant) {
  std::vector<Expr> kept;
  for (size_t i = 0; i < args.size(); ++i) {
    bool drop = false;
    for (size_t j = 0; j < args.size() && !drop; ++j) {
      if (i == j || !redundant(args[j], args[i])) continue;
      drop = j < i || !redundant(args[i], args[j]);
    }
    if (!drop) kept.push_back(args[i]);
  }
  return kept;
}

void sort_unique(std::vector<Expr>& args) {
  std::ranges::sort(args, [](Expr a, Expr b) { return compare(a, b) < 0; });
  args.erase(std::unique(args.begin(), args.end()), args.end());
}

Expr conjunction(const std::vector<Expr>& args) {
  std::vector<Expr> flat;
  for (const Expr a : args) {
    if (a == Expr(0)) return 0;
    if (a == Expr(1)) continue;
    if (a.kind() == ExprKind::all) {
      for (const ExprNode* n : a.node()->args) flat.push_back(Expr(n));
    } else {
      flat.push_back(a);
    }
  }
  sort_unique(flat);
  for (const Expr a : flat) {
    if (std::ranges::find(flat, logical_not(a)) != flat.end()) return 0;
  }
  if (flat.size() <= kMaxPairwise) {
    for (const Expr a : flat) {
      for (const Expr b : flat) {
        if (implies(a, logical_not(b))) return 0;
      }
    }
    flat = keep_minimal(flat, implies);
  }
  if (flat.empty()) return 1;
  return flat.size() == 1 ? flat[0] : intern_logic(ExprKind::all, flat);
}

// min for kind == min, max for kind == max.
Expr extremum(ExprKind kind, Expr a, Expr b) {
  if (a.kind() == ExprKind::undefined || b.kind() == ExprKind::undefined) return Expr::undefined();
  std::vector<Expr> args;
  for (const Expr e : {a, b}) {
    if (e.kind() == kind) {
      for (const ExprNode* n : e.node()->args) args.push_back(Expr(n));
    } else {
      args.push_back(e);
    }
  }
  sort_unique(args);
  const auto beats = [kind](Expr x, Expr y) { return kind == ExprKind::min ? prove_ge0(y - x) : prove_ge0(x - y); };
  if (args.size() <= kMaxPairwise) args = keep_minimal(args, beats);
  return args.size() == 1 ? args[0] : intern_logic(kind, args);
}

}  // namespace

Expr lt(Expr a, Expr b) { return ge0(b - a - 1); }
Expr le(Expr a, Expr b) { return ge0(b - a); }
Expr gt(Expr a, Expr b) { return lt(b, a); }
Expr ge(Expr a, Expr b) { return le(b, a); }
Expr eq(Expr a, Expr b) { return equals_zero(a - b, false); }
Expr ne(Expr a, Expr b) { return equals_zero(a - b, true); }
Expr min(Expr a, Expr b) { return extremum(ExprKind::min, a, b); }
Expr max(Expr a, Expr b) { return extremum(ExprKind::max, a, b); }

Expr logical_not(Expr e) {
  switch (e.kind()) {
    case ExprKind::ge0:
      return ge0(-Expr(e.node()->args[0]) - 1);
    case ExprKind::eq0:
      return equals_zero(Expr(e.node()->args[0]), true);
    case ExprKind::ne0:
      return equals_zero(Expr(e.node()->args[0]), false);
    case ExprKind::all:
    case ExprKind::any: {
      std::vector<Expr> negated;
      for (const ExprNode* n : e.node()->args) negated.push_back(logical_not(Expr(n)));
      if (e.kind() == ExprKind::any) return conjunction(negated);
      sort_unique(negated);
      return intern_logic(ExprKind::any, negated);
    }
    default:
      return equals_zero(e, false);
  }
}

Expr logical_and(Expr a, Expr b) {
  if (a.kind() == ExprKind::undefined || b.kind() == ExprKind::undefined) return Expr::undefined();
  return conjunction({truth(a), truth(b)});
}

Expr logical_or(Expr a, Expr b) {
  if (a.kind() == ExprKind::undefined || b.kind() == ExprKind::undefined) return Expr::undefined();
  return logical_not(conjunction({logical_not(truth(a)), logical_not(truth(b))}));
}

}  // namespace lumen
