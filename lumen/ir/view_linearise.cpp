#include "lumen/ir/expr_bounds.h"
#include "lumen/ir/expr_parts.h"
#include "lumen/ir/view_parts.h"

namespace lumen {

namespace {

constexpr int64_t kMaxCases = 16;
constexpr size_t kMaxDivisions = 8;  // beyond that nothing affine hides, and every case costs a normalisation

// The coordinate-free d with e = e[i := 0] + d*i for every i, found by looking at each value of i.
std::optional<Expr> slope_by_cases(Expr e, Expr i, Expr at_zero) {
  const int64_t count = bounds(i.index_extent()).hi;
  Expr slope;
  for (int64_t k = 1; k < count; ++k) {
    const std::pair<Expr, Expr> value{i, Expr(k)};
    Expr rise = substitute(e, {&value, 1}) - at_zero;
    if (has_index(rise)) rise = linearise(rise);
    if (has_index(rise)) return std::nullopt;
    if (k == 1) slope = rise;
    if (rise != k * slope) return std::nullopt;
  }
  return slope;
}

}  // namespace

Expr linearise(Expr e) {
  if (linear_in_indices(e) || divisions(e).size() > kMaxDivisions) return e;
  for (const Expr& i : variables(e)) {
    if (i.kind() != ExprKind::index) continue;
    if (bounds(i.index_extent()).hi > kMaxCases) continue;
    const std::pair<Expr, Expr> zero{i, Expr(0)};
    const Expr at_zero = substitute(e, {&zero, 1});
    const auto slope = slope_by_cases(e, i, at_zero);
    const Expr simpler = slope ? at_zero + *slope * i : e;
    if (divisions(simpler).size() <= divisions(e).size()) e = simpler;
  }
  return e;
}

}  // namespace lumen
