// Movement: nothing here moves data; each gives one View (concat and stack: one per piece).
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "lumen/frontend/operand.h"

namespace lumen {

using Axes = std::vector<int64_t>;

Tensor permute(const Operand& x, const Axes& order);
Tensor transpose(const Operand& x, int64_t axis0 = -2, int64_t axis1 = -1);
Tensor t(const Operand& x);  // 2-D transpose; 0-D and 1-D unchanged
Tensor moveaxis(const Operand& x, int64_t from, int64_t to);
// A dim of -1 is inferred (at most one).
Tensor reshape(const Operand& x, const std::vector<Expr>& shape);
Tensor flatten(const Operand& x, int64_t first = 0, int64_t last = -1);
Tensor merge_dims(const Operand& x, int64_t axis);              // axis and axis+1 become one
Tensor split_dims(const Operand& x, int64_t axis, Expr inner);  // axis becomes [n/inner, inner]
Tensor unflatten(const Operand& x, int64_t axis, const std::vector<Expr>& sizes);
Tensor squeeze(const Operand& x, const Axes& axes = {});  // no axes: every dim of size 1
Tensor unsqueeze(const Operand& x, int64_t axis);
Tensor expand(const Operand& x, const std::vector<Expr>& shape);  // -1 keeps a dim
Tensor expand_dim(const Operand& x, int64_t axis, Expr size);     // inserts a new broadcast dim
Tensor broadcast_to(const Operand& x, const Shape& shape);
Tensor repeat(const Operand& x, const std::vector<Expr>& times);  // torch.Tensor.repeat
Tensor tile(const Operand& x, const std::vector<Expr>& times);
Tensor repeat_interleave(const Operand& x, Expr times, int64_t axis);
// Python slicing along one axis: missing ends, negative ones from the end, any non-zero step. A symbolic bound whose
// sign is not known counts from the start; bounds are clamped to the axis.
Tensor slice(const Operand& x, int64_t axis, std::optional<Expr> start, std::optional<Expr> stop, int64_t step = 1);
// x[ranges[0].first : ranges[0].second, …] for the leading axes.
Tensor slice(const Operand& x, const std::vector<std::pair<Expr, Expr>>& ranges);
Tensor narrow(const Operand& x, int64_t axis, Expr start, Expr length);
Tensor select(const Operand& x, int64_t axis, Expr index);  // drops the axis
// Amounts (before, after) per leading axis; negative amounts crop.
Tensor pad(const Operand& x, const std::vector<std::pair<Expr, Expr>>& amounts, const Operand& value = 0);
Tensor pad_along(const Operand& x, int64_t axis, Expr before, Expr after, const Operand& value = 0);
Tensor flip(const Operand& x, const Axes& axes);
Tensor roll(const Operand& x, Expr shift, int64_t axis);
// Windows of `size` elements, `dilation` apart, every `step` along the axis; the window becomes the last dim.
Tensor unfold(const Operand& x, int64_t axis, Expr size, Expr step, Expr dilation = 1);
Tensor diagonal(const Operand& x, int64_t offset = 0, int64_t axis0 = 0, int64_t axis1 = 1);
Tensor concat(const std::vector<Tensor>& xs, int64_t axis = 0, SourceLocation where = SourceLocation::current());
Tensor stack(const std::vector<Tensor>& xs, int64_t axis = 0, SourceLocation where = SourceLocation::current());
std::vector<Tensor> split(const Operand& x, Expr size, int64_t axis = 0);  // the last piece may be shorter
std::vector<Tensor> split(const Operand& x, const std::vector<Expr>& sizes, int64_t axis = 0);
std::vector<Tensor> chunk(const Operand& x, int64_t chunks, int64_t axis = 0);
std::vector<Tensor> unbind(const Operand& x, int64_t axis = 0);

}  // namespace lumen
