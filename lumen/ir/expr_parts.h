// Reading the parts of an expression, for code that must look inside (views, code generation).
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "lumen/ir/expr.h"

namespace lumen {

// The conditions whose conjunction `guard` is; none for the constant 1.
std::vector<Expr> conjuncts(Expr guard);
// e, for the condition e >= 0.
std::optional<Expr> ge0_argument(Expr condition);

// e = sum of coefficient*coordinate + rest, where coefficients and rest are free of coordinates.
struct Linear {
  std::vector<std::pair<Expr, Expr>> terms;  // (coordinate, coefficient), in canonical order
  Expr rest;
};
std::optional<Linear> linear_in_indices(Expr e);

// By how much e grows when the variable does by one, where that is the same for all its values; 0 for a constant.
std::optional<Expr> step_along(Expr e, Expr variable);

bool has_index(Expr e);
// The divisions left in e, each once: (numerator, denominator). Extents of coordinates do not count.
std::vector<std::pair<Expr, Expr>> divisions(Expr e);

}  // namespace lumen
