#include "lumen/frontend/indexing.h"

#include <fmt/format.h>

#include "lumen/frontend/element_index.h"
#include "lumen/frontend/operators.h"

namespace lumen {

namespace {

Tensor checked_indices(const Operand& indices) {
  const Tensor v = indices.tensor();
  if (!is_int(v.dtype())) fail(fmt::format("indices must be integers, got {}", v.type().str()));
  return cast_to(v, DType::i64);
}

// In x's dtype; a number fills `shape`.
Tensor source_of(Tensor x, const Operand& source, const Shape& shape) {
  if (!source.is_tensor()) return broadcast(number(*x.graph, x.dtype(), source), shape);
  return cast_to(source.tensor(), x.dtype());
}

Tensor scatter_slices(const Operand& x, int64_t axis, const Operand& indices, const Operand& source,
                      hlir::ScatterMode mode) {
  const Tensor v = x.tensor();
  const Tensor at = checked_indices(indices);
  const int64_t a = checked_axis(v, axis);
  std::vector<Expr> dims(v.shape().begin(), v.shape().end());
  dims.erase(dims.begin() + a);
  dims.insert(dims.begin() + a, at.shape().begin(), at.shape().end());
  const Shape wanted(dims);
  const Tensor from = source_of(v, source, wanted);
  if (from.shape() != wanted) {
    fail(fmt::format("source {} is not of shape {}, which {} along axis {} of {} needs", from.type().str(),
                     wanted.str(), at.shape().str(), axis, v.type().str()));
  }
  return scatter_of(v, at, from, a, mode);
}

// What torch.gather and torch.scatter ask of the indices.
void check_elements(Tensor x, int64_t axis, Tensor indices) {
  bool fits = x.rank() == indices.rank();
  for (int64_t k = 0; fits && k < x.rank(); ++k) fits = k == axis || !refuted(le(indices.shape()[k], x.shape()[k]));
  if (!fits) {
    fail(fmt::format("indices {} do not fit {} outside axis {}", indices.type().str(), x.type().str(), axis));
  }
}

struct Addressed {
  Tensor rows;       // x with the addressed dims merged into one
  Tensor positions;  // of rows
  Shape taken;       // what gathering them gives
};

// The last dim of `indices` addresses the leading dims of x; negative ones count from the end, as in ONNX.
Addressed address(Tensor x, Tensor indices) {
  const auto depth = indices.rank() == 0 ? std::nullopt : indices.shape()[indices.rank() - 1].constant();
  if (!depth || *depth < 1 || *depth > x.rank()) {
    fail(fmt::format("the last dim of {} does not address dims of {}", indices.type().str(), x.type().str()));
  }
  std::vector<Expr> outer(indices.shape().begin(), indices.shape().end() - 1);
  const auto coordinate = [&](int64_t k) {
    const Tensor given = reshaped(sliced(indices, indices.rank() - 1, k, 1), outer);
    return where(lt(given, 0), given + x.shape()[k], given);
  };
  Tensor positions = coordinate(0);
  Tensor valid = logical_and(ge(positions, 0), lt(positions, x.shape()[0]));
  for (int64_t k = 1; k < *depth; ++k) {
    const Tensor at = coordinate(k);
    valid = logical_and(valid, logical_and(ge(at, 0), lt(at, x.shape()[k])));
    positions = positions * x.shape()[k] + at;
  }
  if (*depth > 1) positions = where(valid, positions, -1);
  std::vector<Expr> rows{Shape(x.shape().dims().first(static_cast<size_t>(*depth))).numel()};
  rows.insert(rows.end(), x.shape().begin() + *depth, x.shape().end());
  outer.insert(outer.end(), rows.begin() + 1, rows.end());
  return {reshaped(x, rows), positions, outer};
}

}  // namespace

Tensor gather(const Operand& x, const Operand& indices) {
  const Call call("gather", x.where());
  return gather_of(flat(x.tensor()), checked_indices(indices), 0);
}

Tensor scatter(const Operand& x, const Operand& indices, const Operand& source, hlir::ScatterMode mode) {
  const Call call("scatter", x.where());
  const Tensor v = x.tensor();
  return reshaped(scatter_slices(flat(v), 0, indices, source, mode), v.shape());
}

Tensor index_select(const Operand& x, int64_t axis, const Operand& indices) {
  const Call call("index_select", x.where());
  return gather_of(x.tensor(), checked_indices(indices), checked_axis(x.tensor(), axis));
}

Tensor index_add(const Operand& x, int64_t axis, const Operand& indices, const Operand& source) {
  const Call call("index_add", x.where());
  return scatter_slices(x, axis, indices, source, hlir::ScatterMode::add);
}

Tensor index_copy(const Operand& x, int64_t axis, const Operand& indices, const Operand& source) {
  const Call call("index_copy", x.where());
  return scatter_slices(x, axis, indices, source, hlir::ScatterMode::set);
}

Tensor take_along_axis(const Operand& x, const Operand& indices, int64_t axis) {
  const Call call("take_along_axis", x.where());
  return gather_elements(x, axis, indices);
}

Tensor gather_elements(const Operand& x, int64_t axis, const Operand& indices) {
  const Call call("gather_elements", x.where());
  const Tensor v = x.tensor();
  const Tensor at = checked_indices(indices);
  const int64_t a = checked_axis(v, axis);
  check_elements(v, a, at);
  return take_elements(v, a, at, Indices::checked);
}

Tensor scatter_elements(const Operand& x, int64_t axis, const Operand& indices, const Operand& source,
                        hlir::ScatterMode mode) {
  const Call call("scatter_elements", x.where());
  const Tensor v = x.tensor();
  const Tensor at = checked_indices(indices);
  const int64_t a = checked_axis(v, axis);
  check_elements(v, a, at);
  Tensor from = source_of(v, source, at.shape());
  if (from.rank() != at.rank()) {
    fail(fmt::format("source {} has not the rank of indices {}", from.type().str(), at.type().str()));
  }
  for (int64_t k = 0; k < at.rank(); ++k) {
    if (from.shape()[k] != at.shape()[k]) from = narrow(from, k, 0, at.shape()[k]);
  }
  const Tensor positions = element_positions(v, a, at, Indices::checked);
  return reshaped(scatter_of(flat(v), flat(positions), flat(from), 0, mode), v.shape());
}

Tensor gather_nd(const Operand& x, const Operand& indices) {
  const Call call("gather_nd", x.where());
  const Addressed at = address(x.tensor(), checked_indices(indices));
  return gather_of(at.rows, at.positions, 0);
}

Tensor scatter_nd(const Operand& x, const Operand& indices, const Operand& updates, hlir::ScatterMode mode) {
  const Call call("scatter_nd", x.where());
  const Tensor v = x.tensor();
  const Addressed at = address(v, checked_indices(indices));
  const Tensor from = source_of(v, updates, at.taken);
  if (from.shape() != at.taken) {
    fail(fmt::format("updates {} are not of shape {}", from.type().str(), at.taken.str()));
  }
  return reshaped(scatter_of(at.rows, at.positions, from, 0, mode), v.shape());
}

Tensor embedding(const Operand& indices, const Operand& weight) {
  const Call call("embedding", indices.where());
  if (weight.tensor().rank() != 2) fail(fmt::format("weight must have 2 dims, got {}", weight.tensor().type().str()));
  return gather_of(weight.tensor(), checked_indices(indices), 0);
}

Tensor one_hot(const Operand& indices, Expr classes, DType dtype) {
  const Call call("one_hot", indices.where());
  const Tensor at = checked_indices(indices);
  const Shape shape = with_inserted(at.shape(), at.rank(), classes);
  const Expr position = Expr::index(static_cast<int>(at.rank()), classes);
  const Tensor positions = iota_of(*at.graph, shape, position, DType::i64);
  return cast_to(eq(inserted(at, at.rank()), positions), dtype);
}

Tensor slice_scatter(const Operand& x, const Operand& source, int64_t axis, Expr start) {
  const Call call("slice_scatter", x.where());
  const Tensor v = x.tensor();
  const Tensor from = cast_to(source.tensor(), v.dtype());
  const int64_t a = checked_axis(v, axis);
  const Expr size = v.shape()[a];
  const Expr first = proven(lt(start, 0)) ? start + size : start;
  const bool same_rank = from.rank() == v.rank();
  const Expr end = same_rank ? first + from.shape()[a] : size;
  if (!same_rank || with_dim(from.shape(), a, size) != v.shape() || refuted(ge(first, 0)) || refuted(le(end, size))) {
    fail(fmt::format("source {} does not fit {} from {} along axis {}", from.type().str(), v.type().str(), start.str(),
                     axis));
  }
  const Expr at = Expr::index(static_cast<int>(a), size);
  const Tensor inside = iota_of(*v.graph, v.shape(), logical_and(ge(at, first), lt(at, end)), DType::bool_);
  const Tensor placed = padded(from, a, first, size - end, fill_of(v.dtype(), 0));
  return select_of(inside, reshaped(placed, v.shape()), v);
}

}  // namespace lumen
