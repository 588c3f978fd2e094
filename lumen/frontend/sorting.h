// Sorting: stable, NaN last (first when descending), as PyTorch.
#pragma once

#include "lumen/frontend/reduction.h"

namespace lumen {

ValuesAndIndices sort(const Operand& x, int64_t axis = -1, bool descending = false);
Tensor argsort(const Operand& x, int64_t axis = -1, bool descending = false);
ValuesAndIndices topk(const Operand& x, Expr k, int64_t axis = -1, bool largest = true);
ValuesAndIndices median(const Operand& x, int64_t axis = -1);  // the lower one of an even count

}  // namespace lumen
