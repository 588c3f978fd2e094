// The bounds prover: facts about expressions that hold for every value of their variables. "false" means not proven.
//
// Sums are bounded below by eliminating one atom after another: a coordinate goes to 0 or extent-1 by the sign of
// its coefficient; a quotient q = x/y obeys y*q <= x < y*q + y; a min or max splits into cases; a dim is shifted to
// its lower bound or set to its upper one. A coordinate that occurs proves that its extent is at least 1.
#pragma once

#include "lumen/ir/expr.h"

namespace lumen {

bool prove_ge0(Expr e);
// The same, knowing also that the coordinates in `given` exist.
bool prove_ge0(Expr e, std::span<const Expr> given);
inline bool prove_lt(Expr a, Expr b) { return prove_ge0(b - a - 1); }
inline bool prove_positive(Expr e) { return prove_ge0(e - 1); }
bool prove_nonzero(Expr e);
inline bool prove_equal(Expr a, Expr b) { return a == b || (prove_ge0(a - b) && prove_ge0(b - a)); }

}  // namespace lumen
