#include "lumen/ir/expr_bounds.h"

#include <algorithm>

#include "lumen/ir/expr_node.h"

namespace lumen {
namespace {

constexpr int64_t kNegInf = Interval::kNegInf;
constexpr int64_t kPosInf = Interval::kPosInf;

constexpr std::ptrdiff_t kMaxQuotients = 3;  // the tightening below looks at every subset

int64_t saturate(__int128 v) {
  if (v <= kNegInf) return kNegInf;
  if (v >= kPosInf) return kPosInf;
  return static_cast<int64_t>(v);
}

bool infinite(int64_t v) { return v == kNegInf || v == kPosInf; }

// With 0 * infinity = 0: the bounds of x*0 are 0 whatever x is.
int64_t multiply_ends(int64_t a, int64_t b) {
  if (a == 0 || b == 0) return 0;
  if (infinite(a) || infinite(b)) return (a < 0) == (b < 0) ? kPosInf : kNegInf;
  return saturate(static_cast<__int128>(a) * b);
}

int64_t floor_div_ends(int64_t a, int64_t b) {
  if (infinite(a)) return a;
  if (infinite(b)) return a < 0 ? -1 : 0;
  return a / b - (a % b != 0 && a < 0 ? 1 : 0);
}

// Interval arithmetic over the terms as they stand.
Interval bounds_of_terms(const ExprNode& n) {
  Interval sum{n.constant, n.constant};
  for (const Term& t : n.terms) {
    Interval product{1, 1};
    for (size_t k = 0; k < t.atoms.size(); ++k) {
      // An even power is taken as one factor: x*x is never negative.
      const bool square = k + 1 < t.atoms.size() && t.atoms[k] == t.atoms[k + 1];
      Interval factor = t.atoms[k]->bounds;
      if (square) {
        factor = factor * factor;
        const Interval base = t.atoms[k]->bounds;
        factor.lo = base.lo <= 0 && base.hi >= 0
                        ? 0
                        : std::min(multiply_ends(base.lo, base.lo), multiply_ends(base.hi, base.hi));
        ++k;
      }
      product = product * factor;
    }
    sum = sum + t.coefficient * product;
  }
  return sum;
}

// The terms of `n` without term `skip`, plus k*extra.
Expr without_term(const ExprNode& n, size_t skip, int64_t k, Expr extra) {
  std::vector<Term> rest(n.terms.begin(), n.terms.end());
  rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(skip));
  return Expr(intern_sum(n.constant, rest)) + Expr(k) * extra;
}

// A term -d*y*(x/y) with constant y obeys -d*x <= -d*y*(x/y) <= -d*(x-y+1) for d > 0, and mirrored for d < 0. This
// is what bounds x - y*(x/y), the normal form of x % y.
Interval tighten_by_quotients(const ExprNode& n, Interval known) {
  const auto quotients = std::ranges::count_if(
      n.terms, [](const Term& t) { return t.atoms.size() == 1 && t.atoms[0]->kind == ExprKind::floor_div; });
  if (quotients > kMaxQuotients) return known;
  for (size_t k = 0; k < n.terms.size(); ++k) {
    const Term& t = n.terms[k];
    if (t.atoms.size() != 1 || t.atoms[0]->kind != ExprKind::floor_div) continue;
    const Expr x(t.atoms[0]->args[0]);
    const Expr y(t.atoms[0]->args[1]);
    if (!y.is_constant() || *y.constant() <= 0 || t.coefficient == kNegInf || t.coefficient % *y.constant() != 0) {
      continue;
    }
    const int64_t d = -t.coefficient / *y.constant();
    const Expr low = without_term(n, k, -d, d > 0 ? x : x - y + 1);
    const Expr high = without_term(n, k, -d, d > 0 ? x - y + 1 : x);
    known = intersect(known, {bounds(low).lo, bounds(high).hi});
  }
  return known;
}

}  // namespace

Interval operator+(Interval a, Interval b) {
  const auto add = [](int64_t x, int64_t y, int64_t inf) {
    return x == inf || y == inf ? inf : saturate(static_cast<__int128>(x) + y);
  };
  return {add(a.lo, b.lo, kNegInf), add(a.hi, b.hi, kPosInf)};
}

Interval operator*(Interval a, Interval b) {
  const int64_t p[] = {multiply_ends(a.lo, b.lo), multiply_ends(a.lo, b.hi), multiply_ends(a.hi, b.lo),
                       multiply_ends(a.hi, b.hi)};
  return {*std::ranges::min_element(p), *std::ranges::max_element(p)};
}

Interval operator*(int64_t k, Interval a) { return Interval{k, k} * a; }

Interval floor_div(Interval a, Interval b) {
  if (b.lo <= 0) return {};
  const int64_t ends[] = {floor_div_ends(a.lo, b.lo), floor_div_ends(a.lo, b.hi), floor_div_ends(a.hi, b.lo),
                          floor_div_ends(a.hi, b.hi)};
  return {*std::ranges::min_element(ends), *std::ranges::max_element(ends)};
}

Interval intersect(Interval a, Interval b) {
  const Interval r{std::max(a.lo, b.lo), std::min(a.hi, b.hi)};
  return r.lo <= r.hi ? r : a;  // an empty intersection means unreachable code; keep something true
}

Interval bounds(Expr e) { return e.node()->bounds; }

Interval compute_bounds(const ExprNode& n) {
  switch (n.kind) {
    case ExprKind::constant:
      return {n.constant, n.constant};
    case ExprKind::dim:
    case ExprKind::undefined:
      return n.bounds;
    case ExprKind::index: {
      const int64_t hi = n.args[0]->bounds.hi;
      return {0, infinite(hi) ? kPosInf : std::max<int64_t>(hi - 1, 0)};
    }
    case ExprKind::sum:
      return tighten_by_quotients(n, bounds_of_terms(n));
    case ExprKind::floor_div:
      return floor_div(n.args[0]->bounds, n.args[1]->bounds);
    case ExprKind::min:
    case ExprKind::max: {
      Interval r = n.args[0]->bounds;
      for (const ExprNode* a : n.args.subspan(1)) {
        const Interval b = a->bounds;
        r = n.kind == ExprKind::min ? Interval{std::min(r.lo, b.lo), std::min(r.hi, b.hi)}
                                    : Interval{std::max(r.lo, b.lo), std::max(r.hi, b.hi)};
      }
      return r;
    }
    case ExprKind::product: {
      Interval r{1, 1};
      for (const ExprNode* a : n.args) r = r * a->bounds;
      return r;
    }
    case ExprKind::ge0:
    case ExprKind::eq0:
    case ExprKind::ne0:
    case ExprKind::all:
    case ExprKind::any:
      return {0, 1};
  }
  return {};
}

}  // namespace lumen
