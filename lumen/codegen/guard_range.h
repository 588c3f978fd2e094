// Where along a loop conditions hold, such as those of a window that leaves its image: loops over the range in which
// all do need no branch, and become vectors.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "lumen/ir/expr.h"

namespace lumen {

// Statements that narrow `int64_t lo, hi`, a range of the variable, to where all guards hold; afterwards hi may be less
// than lo, and lo beyond what hi was. Nothing where a condition is not linear in the variable.
std::optional<std::string> narrow_range(std::span<const Expr> guards, Expr variable);

}  // namespace lumen
