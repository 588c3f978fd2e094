#include "lumen/ir/expr_divisibility.h"

#include <algorithm>
#include <numeric>

#include "lumen/ir/expr_node.h"
#include "lumen/ir/expr_prove.h"

namespace lumen {
namespace {

// b's atoms removed from a's; nothing when b does not divide a.
std::optional<std::vector<const ExprNode*>> divide_atoms(Atoms a, Atoms b) {
  std::vector<const ExprNode*> rest;
  size_t j = 0;
  for (const ExprNode* atom : a) {
    if (j < b.size() && atom == b[j]) {
      ++j;
    } else {
      rest.push_back(atom);
    }
  }
  if (j != b.size()) return std::nullopt;
  return rest;
}

int64_t gcd(int64_t a, int64_t b) {
  if (a == Interval::kNegInf || b == Interval::kNegInf) return 1;  // its absolute value does not exist
  return std::gcd(a, b);
}

}  // namespace

int64_t known_divisor(Expr e) {
  int64_t g = gcd(e.node()->constant, 0);
  for (const Term& t : e.node()->terms) g = gcd(g, t.coefficient);
  return g;
}

Division divide_terms(Expr e, Expr d) {
  const ExprNode& n = *d.node();
  Division out{0, e};
  if (d == Expr(-1)) return {-e, 0};
  if (d.is_constant()) {
    for (const Term& t : e.node()->terms) {
      if (t.coefficient % n.constant != 0) continue;
      const Expr q(intern_sum(0, std::span<const Term>(std::vector<Term>{{t.coefficient / n.constant, t.atoms}})));
      out.quotient += q;
    }
    const int64_t c = e.node()->constant;
    out.quotient += c / n.constant - (c % n.constant != 0 && (c < 0) != (n.constant < 0) ? 1 : 0);
    out.rest = e - out.quotient * d;
    return out;
  }
  // Division by the leading term; each step cancels it and brings in only smaller ones.
  const Term lead = n.terms[0];
  for (int step = 0; step < 32; ++step) {
    bool moved = false;
    for (const Term& t : out.rest.node()->terms) {
      if (t.coefficient == Interval::kNegInf || t.coefficient % lead.coefficient != 0) continue;
      const auto atoms = divide_atoms(t.atoms, lead.atoms);
      if (!atoms) continue;
      const int64_t k = t.coefficient / lead.coefficient;
      const Term q_term{k, *atoms};
      const Expr q = atoms->empty() ? Expr(k) : Expr(intern_sum(0, std::span(&q_term, 1)));
      out.quotient += q;
      out.rest = out.rest - q * d;
      moved = true;
      break;
    }
    if (!moved || out.rest.kind() == ExprKind::undefined) break;
  }
  return out;
}

std::optional<Expr> exact_quotient(Expr e, Expr d) {
  if (e.kind() == ExprKind::undefined || d.kind() == ExprKind::undefined || !prove_nonzero(d)) return std::nullopt;
  const Division r = divide_terms(e, d);
  if (!(r.rest == Expr(0)) || r.quotient.kind() == ExprKind::undefined) return std::nullopt;
  return r.quotient;
}

Expr common_factor(Expr a, Expr b) {
  const auto one_term = [](Expr e) {
    const ExprNode& n = *e.node();
    return n.terms.empty() ? Term{n.constant, {}} : n.terms[0];
  };
  const Term x = one_term(a);
  const Term y = one_term(b);
  std::vector<const ExprNode*> atoms;
  size_t j = 0;
  for (const ExprNode* atom : x.atoms) {
    while (j < y.atoms.size() && compare(Expr(y.atoms[j]), Expr(atom)) < 0) ++j;
    if (j < y.atoms.size() && y.atoms[j] == atom) {
      atoms.push_back(atom);
      ++j;
    }
  }
  const int64_t k = gcd(x.coefficient, y.coefficient);
  const Term t{k, atoms};
  return atoms.empty() ? Expr(k) : Expr(intern_sum(0, std::span(&t, 1)));
}

}  // namespace lumen
