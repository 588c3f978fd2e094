// Sums and products: the polynomial part of the normal form.
#include <algorithm>
#include <boost/container/small_vector.hpp>

#include "lumen/ir/expr_node.h"

namespace lumen {
namespace {

// Products are expanded up to these sizes; beyond, they stay a product atom.
constexpr size_t kMaxTerms = 128;
constexpr size_t kMaxDegree = 24;

using Terms = boost::container::small_vector<Term, 8>;
using AtomList = boost::container::small_vector<const ExprNode*, 6>;

bool is_undefined(Expr e) { return e.kind() == ExprKind::undefined; }

// a + k*b, merging the sorted term lists. Undefined when a coefficient leaves 64 bits.
Expr add_scaled(Expr a, int64_t k, Expr b) {
  const ExprNode& x = *a.node();
  const ExprNode& y = *b.node();
  int64_t constant = 0;
  if (__builtin_mul_overflow(k, y.constant, &constant)) return Expr::undefined();
  if (__builtin_add_overflow(x.constant, constant, &constant)) return Expr::undefined();
  Terms terms;
  size_t i = 0;
  size_t j = 0;
  while (i < x.terms.size() || j < y.terms.size()) {
    const int order = i == x.terms.size()   ? 1
                      : j == y.terms.size() ? -1
                                            : compare_monomials(x.terms[i].atoms, y.terms[j].atoms);
    if (order < 0) {
      terms.push_back(x.terms[i++]);
      continue;
    }
    Term t = y.terms[j++];
    if (__builtin_mul_overflow(k, t.coefficient, &t.coefficient)) return Expr::undefined();
    if (order == 0 && __builtin_add_overflow(t.coefficient, x.terms[i++].coefficient, &t.coefficient)) {
      return Expr::undefined();
    }
    if (t.coefficient != 0) terms.push_back(t);
  }
  return Expr(intern_sum(constant, terms));
}

// The product of two monomials. A 0/1 atom is its own square.
AtomList multiply(Atoms a, Atoms b) {
  AtomList out;
  std::ranges::merge(a, b, std::back_inserter(out),
                     [](const ExprNode* x, const ExprNode* y) { return compare(Expr(x), Expr(y)) < 0; });
  const auto last = std::unique(out.begin(), out.end(),
                                [](const ExprNode* x, const ExprNode* y) { return x == y && x->is_boolean(); });
  out.erase(last, out.end());
  return out;
}

size_t degree(const ExprNode& n) { return n.terms.empty() ? 0 : n.terms[0].atoms.size(); }

Expr product_atom(Expr a, Expr b) {
  AtomList factors;
  for (const Expr e : {a, b}) {
    if (e.kind() == ExprKind::product) {
      factors.insert(factors.end(), e.node()->args.begin(), e.node()->args.end());
    } else {
      factors.push_back(e.node());
    }
  }
  std::ranges::sort(factors, [](const ExprNode* x, const ExprNode* y) { return compare(Expr(x), Expr(y)) < 0; });
  return Expr(intern_atom(ExprKind::product, factors));
}

struct OwnedTerm {
  int64_t coefficient;
  AtomList atoms;
};

// Sorts, adds up equal monomials, drops zeros.
Expr sum_of_terms(int64_t constant, std::vector<OwnedTerm>& terms) {
  std::ranges::sort(terms,
                    [](const OwnedTerm& x, const OwnedTerm& y) { return compare_monomials(x.atoms, y.atoms) < 0; });
  Terms out;
  for (const OwnedTerm& t : terms) {
    if (!out.empty() && compare_monomials(out.back().atoms, t.atoms) == 0) {
      if (__builtin_add_overflow(out.back().coefficient, t.coefficient, &out.back().coefficient)) {
        return Expr::undefined();
      }
      continue;
    }
    if (!out.empty() && out.back().coefficient == 0) out.pop_back();
    out.push_back({t.coefficient, t.atoms});
  }
  if (!out.empty() && out.back().coefficient == 0) out.pop_back();
  return Expr(intern_sum(constant, out));
}

}  // namespace

Expr operator+(Expr a, Expr b) {
  if (is_undefined(a) || is_undefined(b)) return Expr::undefined();
  return add_scaled(a, 1, b);
}

Expr operator-(Expr a, Expr b) {
  if (is_undefined(a) || is_undefined(b)) return Expr::undefined();
  return a == b ? Expr(0) : add_scaled(a, -1, b);
}

Expr operator-(Expr a) { return Expr(0) - a; }

Expr operator*(Expr a, Expr b) {
  if (is_undefined(a) || is_undefined(b)) return Expr::undefined();
  if (b.is_constant()) std::swap(a, b);
  if (a.is_constant()) return *a.constant() == 1 ? b : add_scaled(0, *a.constant(), b);
  if (const ExprNode* known = recall(MemoOp::product, a.node(), b.node())) return Expr(known);

  const ExprNode& x = *a.node();
  const ExprNode& y = *b.node();
  if ((x.terms.size() + 1) * (y.terms.size() + 1) > kMaxTerms || degree(x) + degree(y) > kMaxDegree) {
    return product_atom(a, b);
  }
  std::vector<OwnedTerm> terms;
  const auto add = [&terms](int64_t p, int64_t q, Atoms atoms, Atoms more) {
    int64_t coefficient = 0;
    if (__builtin_mul_overflow(p, q, &coefficient)) return false;
    if (coefficient != 0) terms.push_back({coefficient, multiply(atoms, more)});
    return true;
  };
  bool fits = true;
  for (const Term& s : x.terms) {
    for (const Term& t : y.terms) fits = fits && add(s.coefficient, t.coefficient, s.atoms, t.atoms);
    fits = fits && add(s.coefficient, y.constant, s.atoms, {});
  }
  for (const Term& t : y.terms) fits = fits && add(x.constant, t.coefficient, t.atoms, {});
  int64_t constant = 0;
  fits = fits && !__builtin_mul_overflow(x.constant, y.constant, &constant);
  const Expr result = fits ? sum_of_terms(constant, terms) : Expr::undefined();
  remember(MemoOp::product, a.node(), b.node(), result.node());
  return result;
}

}  // namespace lumen
