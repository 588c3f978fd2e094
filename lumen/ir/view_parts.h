// The steps that the view algebra is made of; for the files that implement view.h.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "lumen/ir/expr_parts.h"
#include "lumen/ir/view.h"

namespace lumen {

// The coordinates of row-major position `flat`, for 0 <= flat < numel.
std::vector<Expr> unflatten(Expr flat, std::span<const Expr> dims);

// v's index and guard at the given coordinates.
struct Read {
  Expr index;
  Expr guard;
};
Read read_at(View v, std::span<const Expr> coords);

// The view of shape `to` whose element x is v's element coords(x); coords are over the coordinates of `to`.
View read_at(View v, Shape to, std::span<const Expr> coords);

// e with coordinates of few values freed from divisions where e is affine in them: (i0 + 1)/2 is i0 for i0 in [0,2).
Expr linearise(Expr e);

// Whether some dim is the constant 0, so that nothing is ever read.
bool is_empty(Shape shape);

// A change of variables under which Expr, whose rules know only the intervals of variables, sees more.
//
//   split     where i0/6 occurs for i0 in [0,12): i0 = 6*u0 + u1 with u0 in [0,2), u1 in [0,6)
//   tighten   where a guard says i0 >= 2 and i0 < 7 for i0 in [0,9): i0 = u0 + 2 with u0 in [0,5); valid where the
//             guard holds. Now (i0 - 2)/5 enters as u0/5, becomes 0, and leaves as 0.
class CoordinateChange {
 public:
  // For the divisions of a coordinate that occur in e (in the old variables). False when there was nothing to split.
  bool split(Expr e);
  // Chosen so that `index` gets simpler; a condition that only mixes more variables into it is left out.
  void tighten(Expr guard, Expr index);
  // The guard given to tighten was found to hold nowhere.
  bool is_void() const { return void_; }
  Expr enter(Expr e) const;
  Expr leave(Expr e) const;

 private:
  struct Step {
    std::pair<Expr, Expr> into;                 // the old variable and what it is in new ones
    std::vector<std::pair<Expr, Expr>> out_of;  // each new variable and what it is in old ones
  };
  Expr new_variable(Expr extent);
  void add(Step step);

  std::vector<Step> steps_;  // enter takes them in order, leave in reverse
  int variables_ = 0;
  bool void_ = false;
};

}  // namespace lumen
