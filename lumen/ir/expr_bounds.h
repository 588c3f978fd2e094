// Constant bounds of an expression, by interval arithmetic over its polynomial; kept in every node.
#pragma once

#include <cstdint>
#include <limits>

#include "lumen/ir/expr.h"

namespace lumen {

struct Interval {
  static constexpr int64_t kNegInf = std::numeric_limits<int64_t>::min();
  static constexpr int64_t kPosInf = std::numeric_limits<int64_t>::max();
  int64_t lo = kNegInf;
  int64_t hi = kPosInf;

  bool is_point() const { return lo == hi && lo != kNegInf && lo != kPosInf; }
  bool operator==(const Interval&) const = default;
};

// The ends saturate: a bound beyond 64 bits is an infinity.
Interval operator+(Interval a, Interval b);
Interval operator*(Interval a, Interval b);
Interval operator*(int64_t k, Interval a);
Interval floor_div(Interval a, Interval b);
Interval intersect(Interval a, Interval b);

// Always true of every value the expression can take.
Interval bounds(Expr e);

// For the interner: the bounds of a node whose parts are known.
Interval compute_bounds(const ExprNode& node);

}  // namespace lumen
