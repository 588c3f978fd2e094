#include "lumen/ir/expr_prove.h"

#include <algorithm>

#include "lumen/ir/expr_divisibility.h"
#include "lumen/ir/expr_node.h"
#include "lumen/ir/expr_parts.h"

namespace lumen {
namespace {

constexpr int kMaxSteps = 256;  // of one proof; a count, so the answer never depends on time
constexpr int kMaxDepth = 24;

// e = coefficient*atom + rest, with `atom` not among the factors of either.
struct Split {
  Expr coefficient;
  Expr rest;
};

std::optional<Split> split(Expr e, const ExprNode* atom) {
  Split out{0, e.node()->constant};
  for (const Term& t : e.node()->terms) {
    const auto n = std::ranges::count(t.atoms, atom);
    if (n > 1) return std::nullopt;
    if (n == 0) {
      out.rest += Expr(intern_sum(0, std::span(&t, 1)));
      continue;
    }
    std::vector<const ExprNode*> others;
    std::ranges::copy_if(t.atoms, std::back_inserter(others), [&](const ExprNode* a) { return a != atom; });
    const Term c{t.coefficient, others};
    out.coefficient += others.empty() ? Expr(t.coefficient) : Expr(intern_sum(0, std::span(&c, 1)));
  }
  return out;
}

// The atoms of the top-level monomials, each once, in canonical order of first appearance.
std::vector<const ExprNode*> atoms_of(Expr e) {
  std::vector<const ExprNode*> out;
  for (const Term& t : e.node()->terms) {
    for (const ExprNode* a : t.atoms) {
      if (std::ranges::find(out, a) == out.end()) out.push_back(a);
    }
  }
  return out;
}

class Prover {
 public:
  explicit Prover(std::span<const Expr> given) {
    for (const Expr e : given) assume_extents(e);
  }

  bool ge0(Expr e, int depth = 0) {
    if (e.kind() == ExprKind::undefined) return false;
    if (bounds(e).lo >= 0) return true;
    if (bounds(e).hi < 0 || depth > kMaxDepth || ++steps_ > kMaxSteps) return false;
    const std::vector<const ExprNode*> atoms = atoms_of(e);
    for (const ExprNode* a : atoms) {
      if (a->kind == ExprKind::floor_div && by_quotient(e, a, atoms, depth)) return true;
    }
    for (const ExprNode* a : atoms) {
      if (a->kind == ExprKind::min || a->kind == ExprKind::max) return by_cases(e, a, depth);
    }
    for (const ExprNode* a : atoms) {
      if (a->kind != ExprKind::index || hidden(a, atoms)) continue;
      if (const auto next = without_index(e, a, depth)) return ge0(*next, depth + 1);
    }
    if (all_terms_nonnegative(e)) return true;
    for (const ExprNode* a : atoms) {
      if (a->kind == ExprKind::index) continue;
      if (const auto next = at_constant_bound(e, a, depth)) return ge0(*next, depth + 1);
    }
    // A coordinate that also occurs inside another atom is bounded last: that forgets how the two move together.
    for (const ExprNode* a : atoms) {
      if (a->kind != ExprKind::index) continue;
      if (const auto next = without_index(e, a, depth)) return ge0(*next, depth + 1);
    }
    return false;
  }

 private:
  // A coordinate exists only where its extent is at least 1, so dims that are the extent (or factors of it) are too.
  void assume_extents(Expr e) {
    for (const Expr v : variables(e)) {
      if (v.kind() != ExprKind::index) continue;
      const ExprNode& extent = *v.index_extent().node();
      if (extent.constant != 0 || extent.terms.size() != 1 || extent.terms[0].coefficient < 0) continue;
      for (const ExprNode* a : extent.terms[0].atoms) {
        if (a->bounds.lo == 0) at_least_one_.push_back(a);
      }
    }
  }

  int64_t lower(const ExprNode* a) const {
    return a->bounds.lo == 0 && std::ranges::find(at_least_one_, a) != at_least_one_.end() ? 1 : a->bounds.lo;
  }

  static bool hidden(const ExprNode* index, const std::vector<const ExprNode*>& atoms) {
    return std::ranges::any_of(atoms, [&](const ExprNode* a) {
      return a != index && a->kind != ExprKind::dim && a->kind != ExprKind::index && depends_on(Expr(a), Expr(index));
    });
  }

  std::optional<Expr> without_index(Expr e, const ExprNode* index, int depth) {
    const auto parts = split(e, index);
    if (!parts) return std::nullopt;
    if (ge0(parts->coefficient, depth + 1)) return parts->rest;
    if (!ge0(-parts->coefficient, depth + 1)) return std::nullopt;
    return parts->rest + parts->coefficient * (Expr(index->args[0]) - 1);
  }

  // q = x/y: y*q lies in [x-y+1, x], so a multiple of y*q can be replaced by that of an end.
  bool by_quotient(Expr e, const ExprNode* q, const std::vector<const ExprNode*>& atoms, int depth) {
    const auto parts = split(e, q);
    if (!parts) return false;
    const Expr x(q->args[0]);
    const Expr y(q->args[1]);
    if (!ge0(y - 1, depth + 1)) return false;
    if (by_ends(*parts, x, y, depth)) return true;
    // The same quotient seen from a sibling x'/y' with y = y'*m and x = x' + k*y': it is (x'/y' + k) / m.
    for (const ExprNode* s : atoms) {
      if (s == q || s->kind != ExprKind::floor_div) continue;
      const Expr sy(s->args[1]);
      const auto m = exact_quotient(y, sy);
      const auto k = exact_quotient(x - Expr(s->args[0]), sy);
      if (m && k && ge0(*m - 1, depth + 1) && by_ends(*parts, Expr(s) + *k, *m, depth)) return true;
    }
    if (ge0(parts->coefficient, depth + 1)) {
      return bounds(x).lo < 0 && ge0(x, depth + 1) && ge0(parts->rest, depth + 1);
    }
    if (!ge0(-parts->coefficient, depth + 1)) return false;
    const Expr top = largest(x, depth);
    return !(top == x) && ge0(parts->rest + parts->coefficient * floor_div(top, y), depth + 1);
  }

  bool by_ends(const Split& parts, Expr x, Expr y, int depth) {
    const auto d = exact_quotient(parts.coefficient, y);
    if (!d) return false;
    if (ge0(*d, depth + 1)) return ge0(parts.rest + *d * (x - y + 1), depth + 1);
    return ge0(-*d, depth + 1) && ge0(parts.rest + *d * x, depth + 1);
  }

  // An upper bound of x in which linear coordinates are at their ends.
  Expr largest(Expr x, int depth) {
    for (const ExprNode* a : atoms_of(x)) {
      if (a->kind != ExprKind::index) continue;
      if (const auto next = without_index(-x, a, depth + 1)) x = -*next;
    }
    return x;
  }

  // min and max equal one of their arguments: every case must hold, or just one where the extremum only helps.
  bool by_cases(Expr e, const ExprNode* m, int depth) {
    const auto parts = split(e, m);
    if (!parts) return false;
    const bool rising = ge0(parts->coefficient, depth + 1);
    const bool falling = !rising && ge0(-parts->coefficient, depth + 1);
    const bool one_suffices = m->kind == ExprKind::max ? rising : falling;
    const auto holds = [&](const ExprNode* arg) {
      return ge0(parts->rest + parts->coefficient * Expr(arg), depth + 1);
    };
    return one_suffices ? std::ranges::any_of(m->args, holds) : std::ranges::all_of(m->args, holds);
  }

  // With every atom written as its lower bound plus something not negative, no coefficient is negative.
  bool all_terms_nonnegative(Expr e) {
    Expr shifted = e.node()->constant;
    for (const Term& t : e.node()->terms) {
      Expr product = t.coefficient;
      for (const ExprNode* a : t.atoms) {
        const int64_t lo = lower(a);
        if (lo == Interval::kNegInf) return false;
        product *= Expr(a) + lo;
      }
      shifted += product;
    }
    const ExprNode& n = *shifted.node();
    return n.kind != ExprKind::undefined && n.constant >= 0 &&
           std::ranges::all_of(n.terms, [](const Term& t) { return t.coefficient >= 0; });
  }

  std::optional<Expr> at_constant_bound(Expr e, const ExprNode* a, int depth) {
    const auto parts = split(e, a);
    if (!parts) return std::nullopt;
    if (lower(a) != Interval::kNegInf && ge0(parts->coefficient, depth + 1)) {
      return parts->rest + parts->coefficient * lower(a);
    }
    if (a->bounds.hi == Interval::kPosInf || !ge0(-parts->coefficient, depth + 1)) return std::nullopt;
    return parts->rest + parts->coefficient * a->bounds.hi;
  }

  std::vector<const ExprNode*> at_least_one_;
  int steps_ = 0;
};

}  // namespace

bool prove_ge0(Expr e) {
  if (bounds(e).lo >= 0) return true;
  if (bounds(e).hi < 0) return false;
  if (const ExprNode* known = recall(MemoOp::prove, e.node(), e.node())) return known->constant != 0;
  const Expr given[] = {e};
  const bool proven = Prover(given).ge0(e);
  remember(MemoOp::prove, e.node(), e.node(), intern_constant(proven ? 1 : 0));
  return proven;
}

bool prove_ge0(Expr e, std::span<const Expr> given) {
  if (prove_ge0(e)) return true;
  const bool coordinates = std::ranges::any_of(given, has_index);
  return coordinates && bounds(e).hi >= 0 && Prover(given).ge0(e);
}

bool prove_nonzero(Expr e) { return prove_ge0(e - 1) || prove_ge0(-e - 1); }

}  // namespace lumen
