// What divides an expression, exactly.
#pragma once

#include <optional>

#include "lumen/ir/expr.h"

namespace lumen {

// The largest constant that divides every coefficient and the constant part; 0 for the expression 0.
int64_t known_divisor(Expr e);
// e / d where that is exact as polynomials and d is proven non-zero.
std::optional<Expr> exact_quotient(Expr e, Expr d);

// e = quotient * d + rest, moving out of `rest` whatever terms d divides; always exact. d is not 0.
struct Division {
  Expr quotient;
  Expr rest;
};
Division divide_terms(Expr e, Expr d);
// The largest monomial with positive coefficient dividing both (as polynomials with one term each).
Expr common_factor(Expr a, Expr b);

}  // namespace lumen
