// Reductions. No axes means all of them. `keepdim` leaves a dim of size 1.
#pragma once

#include "lumen/frontend/movement.h"

namespace lumen {

Tensor sum(const Operand& x, const Axes& axes = {}, bool keepdim = false);   // integers and bools sum to i64
Tensor prod(const Operand& x, const Axes& axes = {}, bool keepdim = false);  // likewise
Tensor mean(const Operand& x, const Axes& axes = {}, bool keepdim = false);
Tensor max(const Operand& x, const Axes& axes = {}, bool keepdim = false);
Tensor min(const Operand& x, const Axes& axes = {}, bool keepdim = false);
Tensor argmax(const Operand& x, int64_t axis, bool keepdim = false);  // the first of equals; NaN is the largest
Tensor argmin(const Operand& x, int64_t axis, bool keepdim = false);
Tensor any(const Operand& x, const Axes& axes = {}, bool keepdim = false);
Tensor all(const Operand& x, const Axes& axes = {}, bool keepdim = false);
Tensor var(const Operand& x, const Axes& axes = {}, int64_t correction = 1, bool keepdim = false);
Tensor stddev(const Operand& x, const Axes& axes = {}, int64_t correction = 1, bool keepdim = false);
Tensor norm(const Operand& x, double p = 2.0, const Axes& axes = {}, bool keepdim = false);
Tensor logsumexp(const Operand& x, const Axes& axes, bool keepdim = false);
Tensor count_nonzero(const Operand& x, const Axes& axes = {});

// Along one axis, same shape out.
Tensor cumsum(const Operand& x, int64_t axis);
Tensor cumprod(const Operand& x, int64_t axis);
struct ValuesAndIndices {
  Tensor values;
  Tensor indices;  // i64
};
ValuesAndIndices cummax(const Operand& x, int64_t axis);  // the last of equals
ValuesAndIndices cummin(const Operand& x, int64_t axis);
Tensor logcumsumexp(const Operand& x, int64_t axis);

}  // namespace lumen
