#include "lumen/frontend/movement.h"

#include <fmt/format.h>

#include <algorithm>

#include "lumen/frontend/primitives.h"

namespace lumen {

namespace {

// "[2,-1]"; unlike Shape::str for shapes that still hold -1.
std::string text_of(const std::vector<Expr>& dims) { return Shape(dims).str(); }

void check_not_negative(Expr size, std::string_view what) {
  if (size.constant().value_or(0) < 0) fail(fmt::format("{} is {}, which is negative", what, size.str()));
}

// The dim that makes `dims` hold `count` elements; the -1 among them is at `unknown`.
Expr inferred_dim(Tensor x, const std::vector<Expr>& dims, size_t unknown) {
  Expr known = 1;
  for (size_t k = 0; k < dims.size(); ++k) {
    if (k != unknown) known *= dims[k];
  }
  const Expr count = x.shape().numel();
  const Expr dim = known == Expr(0) ? Expr(0) : count / known;
  if (known == Expr(0) || dim * known != count) {
    fail(fmt::format("cannot infer the -1 of {}: {} elements of {} are not known to be a multiple of {}", text_of(dims),
                     count.str(), x.type().str(), known.str()));
  }
  return dim;
}

Tensor reshape_checked(Tensor x, std::vector<Expr> dims) {
  const std::vector<Expr> given = dims;
  std::optional<size_t> unknown;
  for (size_t k = 0; k < dims.size(); ++k) {
    if (dims[k] == Expr(-1)) {
      if (unknown) fail(fmt::format("at most one dim can be -1: {}", text_of(given)));
      unknown = k;
    } else if (dims[k].constant().value_or(0) < 0) {
      fail(fmt::format("dim {} of {} is negative", k, text_of(given)));
    }
  }
  if (unknown) dims[*unknown] = inferred_dim(x, given, *unknown);
  const Shape to(dims);
  const Expr had = x.shape().numel();
  const Expr wanted = to.numel();
  if (had != wanted) {
    fail(fmt::format("{} has {} elements, {} {} {}", x.type().str(), had.str(), to.str(),
                     refuted(eq(had, wanted)) ? "has" : "is not known to have as many:", wanted.str()));
  }
  return reshaped(x, to);
}

std::vector<Expr> dims_of(Tensor x) { return {x.shape().begin(), x.shape().end()}; }

}  // namespace

Tensor permute(const Operand& x, const Axes& order) {
  const Call call("permute", x.where());
  const Tensor v = x.tensor();
  Axes axes;
  for (int64_t axis : order) axes.push_back(checked_axis(v, axis));
  Axes sorted = axes;
  std::sort(sorted.begin(), sorted.end());
  const bool has_twice = std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end();
  if (has_twice || static_cast<int64_t>(axes.size()) != v.rank()) {
    fail(fmt::format("[{}] is no order of the axes of {}", fmt::join(order, ","), v.type().str()));
  }
  return permuted(v, axes);
}

Tensor transpose(const Operand& x, int64_t axis0, int64_t axis1) {
  const Call call("transpose", x.where());
  const Tensor v = x.tensor();
  Axes order = checked_axes(v, {});
  std::swap(order[static_cast<size_t>(checked_axis(v, axis0))], order[static_cast<size_t>(checked_axis(v, axis1))]);
  return permuted(v, order);
}

Tensor t(const Operand& x) {
  const Call call("t", x.where());
  const Tensor v = x.tensor();
  if (v.rank() > 2) fail(fmt::format("needs at most 2 dims, got {}", v.type().str()));
  return v.rank() == 2 ? permuted(v, {1, 0}) : v;
}

Tensor moveaxis(const Operand& x, int64_t from, int64_t to) {
  const Call call("moveaxis", x.where());
  const Tensor v = x.tensor();
  const int64_t source = checked_axis(v, from);
  const int64_t target = checked_axis(v, to);
  Axes order = checked_axes(v, {});
  order.erase(order.begin() + source);
  order.insert(order.begin() + target, source);
  return permuted(v, order);
}

Tensor reshape(const Operand& x, const std::vector<Expr>& shape) {
  const Call call("reshape", x.where());
  return reshape_checked(x.tensor(), shape);
}

Tensor flatten(const Operand& x, int64_t first, int64_t last) {
  const Call call("flatten", x.where());
  const Tensor v = x.tensor();
  if (v.rank() == 0) return reshaped(v, {1});
  const int64_t begin = checked_axis(v, first);
  const int64_t end = checked_axis(v, last);
  if (begin > end) fail(fmt::format("axes {} to {} of {} are no range", first, last, v.type().str()));
  std::vector<Expr> dims = dims_of(v);
  Expr merged = 1;
  for (int64_t k = begin; k <= end; ++k) merged *= v.shape()[k];
  dims.erase(dims.begin() + begin, dims.begin() + end);
  dims[static_cast<size_t>(begin)] = merged;
  return reshaped(v, dims);
}

Tensor merge_dims(const Operand& x, int64_t axis) {
  const Call call("merge_dims", x.where());
  const int64_t a = checked_axis(x.tensor(), axis);
  return flatten(x, a, checked_axis(x.tensor(), a + 1));
}

Tensor split_dims(const Operand& x, int64_t axis, Expr inner) {
  const Call call("split_dims", x.where());
  return unflatten(x, axis, {-1, inner});
}

Tensor unflatten(const Operand& x, int64_t axis, const std::vector<Expr>& sizes) {
  const Call call("unflatten", x.where());
  const Tensor v = x.tensor();
  const int64_t a = checked_axis(v, axis);
  // The axis alone decides what -1 stands for, so that other symbolic dims cannot get in the way.
  std::vector<Expr> parts = sizes;
  const auto unknown = std::find(parts.begin(), parts.end(), Expr(-1));
  if (unknown != parts.end()) {
    Expr known = 1;
    for (const Expr& size : parts) known *= size == Expr(-1) ? Expr(1) : size;
    const Expr dim = v.shape()[a];
    if (known == Expr(0) || dim / known * known != dim) {
      fail(fmt::format("axis {} of {} is not known to be a multiple of {}", axis, v.type().str(), known.str()));
    }
    *unknown = dim / known;
  }
  std::vector<Expr> dims = dims_of(v);
  dims.erase(dims.begin() + a);
  dims.insert(dims.begin() + a, parts.begin(), parts.end());
  return reshape_checked(v, dims);
}

Tensor squeeze(const Operand& x, const Axes& axes) {
  const Call call("squeeze", x.where());
  const Tensor v = x.tensor();
  const Axes candidates = checked_axes(v, axes);
  std::vector<Expr> dims;
  for (int64_t k = 0; k < v.rank(); ++k) {
    const bool goes = v.shape()[k] == Expr(1) && std::binary_search(candidates.begin(), candidates.end(), k);
    if (!goes) dims.push_back(v.shape()[k]);
  }
  return reshaped(v, dims);
}

Tensor unsqueeze(const Operand& x, int64_t axis) {
  const Call call("unsqueeze", x.where());
  return inserted(x.tensor(), checked_axis(x.tensor(), axis, 1));
}

Tensor expand(const Operand& x, const std::vector<Expr>& shape) {
  const Call call("expand", x.where());
  const Tensor v = x.tensor();
  std::vector<Expr> dims = shape;
  const auto rank = static_cast<int64_t>(dims.size());
  for (int64_t k = 0; k < rank; ++k) {
    const int64_t own = k - (rank - v.rank());
    Expr& dim = dims[static_cast<size_t>(k)];
    if (dim == Expr(-1) && own >= 0) dim = v.shape()[own];
    check_not_negative(dim, fmt::format("dim {} of {}", k, text_of(shape)));
  }
  return broadcast_to(x, dims);
}

Tensor expand_dim(const Operand& x, int64_t axis, Expr size) {
  const Call call("expand_dim", x.where());
  const Tensor v = x.tensor();
  check_not_negative(size, "the size");
  const int64_t a = checked_axis(v, axis, 1);
  const Tensor with_one = inserted(v, a);
  return broadcast(with_one, with_dim(with_one.shape(), a, size));
}

Tensor broadcast_to(const Operand& x, const Shape& shape) {
  const Call call("broadcast_to", x.where());
  const Tensor v = x.tensor();
  const int64_t added = shape.rank() - v.rank();
  bool fits = added >= 0;
  for (int64_t k = 0; fits && k < v.rank(); ++k) {
    fits = v.shape()[k] == Expr(1) || v.shape()[k] == shape[k + added];
  }
  if (!fits) fail(fmt::format("{} does not broadcast to {}", v.type().str(), shape.str()));
  return broadcast(v, shape);
}

Tensor repeat(const Operand& x, const std::vector<Expr>& times) {
  const Call call("repeat", x.where());
  Tensor v = x.tensor();
  if (static_cast<int64_t>(times.size()) < v.rank()) {
    fail(fmt::format("needs a count for each dim of {}, got {}", v.type().str(), times.size()));
  }
  while (v.rank() < static_cast<int64_t>(times.size())) v = inserted(v, 0);
  for (size_t k = 0; k < times.size(); ++k) {
    check_not_negative(times[k], fmt::format("count {}", k));
    v = moved(v, [&](View view) { return repeat(view, static_cast<int64_t>(k), times[k]); });
  }
  return v;
}

Tensor tile(const Operand& x, const std::vector<Expr>& times) {
  const Call call("tile", x.where());
  std::vector<Expr> all = times;
  while (static_cast<int64_t>(all.size()) < x.tensor().rank()) all.insert(all.begin(), Expr(1));
  return repeat(x, all);
}

Tensor repeat_interleave(const Operand& x, Expr times, int64_t axis) {
  const Call call("repeat_interleave", x.where());
  const Tensor v = x.tensor();
  const int64_t a = checked_axis(v, axis);
  return flatten(expand_dim(x, a + 1, times), a, a + 1);
}

Tensor flip(const Operand& x, const Axes& axes) {
  const Call call("flip", x.where());
  if (axes.empty()) return x.tensor();
  Tensor v = x.tensor();
  for (int64_t axis : checked_axes(v, axes)) {
    v = moved(v, [&](View view) { return flip(view, axis); });
  }
  return v;
}

Tensor roll(const Operand& x, Expr shift, int64_t axis) {
  const Call call("roll", x.where());
  const int64_t a = checked_axis(x.tensor(), axis);
  return moved(x.tensor(), [&](View view) { return roll(view, a, shift); });
}

Tensor diagonal(const Operand& x, int64_t offset, int64_t axis0, int64_t axis1) {
  const Call call("diagonal", x.where());
  const Tensor v = x.tensor();
  const int64_t a0 = checked_axis(v, axis0);
  const int64_t a1 = checked_axis(v, axis1);
  if (a0 == a1) fail(fmt::format("axes {} and {} of {} are the same", axis0, axis1, v.type().str()));
  const Expr rows = v.shape()[a0] - std::max<int64_t>(-offset, 0);
  const Expr columns = v.shape()[a1] - std::max<int64_t>(offset, 0);
  const Expr count = max(min(rows, columns), 0);
  return moved(v, [&](View view) { return diagonal(view, a0, a1, offset, count); });
}

}  // namespace lumen
