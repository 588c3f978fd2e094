#include "lumen/frontend/creation.h"

#include <fmt/format.h>

#include "lumen/frontend/operators.h"
#include "lumen/frontend/primitives.h"

namespace lumen {

namespace {

// Equal neighbours as one: values[k] fills the flat positions [starts[k], starts[k+1]).
struct Runs {
  std::vector<Scalar> values;
  std::vector<int64_t> starts;
};

Runs runs_of(std::span<const double> values, DType dtype) {
  Runs runs;
  for (size_t k = 0; k < values.size(); ++k) {
    const Scalar value = fill_of(dtype, values[k]);
    if (!runs.values.empty() && runs.values.back() == value) continue;
    runs.values.push_back(value);
    runs.starts.push_back(static_cast<int64_t>(k));
  }
  return runs;
}

// A balanced tree of selects over the runs [begin, end).
Tensor choose(Graph& g, const Shape& shape, const Runs& runs, size_t begin, size_t end) {
  if (end - begin == 1) return filled(g, shape, runs.values[begin]);
  const size_t middle = (begin + end) / 2;
  const Expr flat = shape.flat_index(shape.coordinates());
  const Tensor before = iota_of(g, shape, lt(flat, runs.starts[middle]), DType::bool_);
  return select_of(before, choose(g, shape, runs, begin, middle), choose(g, shape, runs, middle, end));
}

// x where the condition over its coordinates holds, 0 elsewhere.
Tensor keep_where(Tensor x, Expr condition) {
  const View all = View::identity(x.shape());
  return look_through(x, View(x.shape(), all.index(), condition, fill_of(x.dtype(), 0)));
}

// Column minus row of the last two dims.
Expr distance_from_diagonal(Tensor x) {
  if (x.rank() < 2) fail(fmt::format("needs at least 2 dims, got {}", x.type().str()));
  const std::vector<Expr> coords = x.shape().coordinates();
  return coords[coords.size() - 1] - coords[coords.size() - 2];
}

Tensor full_of(Graph& g, const Shape& shape, const Operand& value, DType dtype) {
  if (!value.is_tensor()) return broadcast(number(g, dtype, value), shape);
  if (value.tensor().graph != &g) fail("operands belong to different graphs");
  if (value.tensor().rank() != 0) fail("the value must be one number, got " + value.tensor().type().str());
  return broadcast(cast_to(value.tensor(), dtype), shape);
}

}  // namespace

Tensor full(Graph& g, const Shape& shape, const Operand& value, DType dtype) {
  const Call call("full", value.where());
  return full_of(g, shape, value, dtype);
}

Tensor zeros(Graph& g, const Shape& shape, DType dtype, SourceLocation where) {
  const Call call("zeros", where);
  return full_of(g, shape, 0, dtype);
}

Tensor ones(Graph& g, const Shape& shape, DType dtype, SourceLocation where) {
  const Call call("ones", where);
  return full_of(g, shape, 1, dtype);
}

Tensor full_like(const Operand& x, const Operand& value) {
  const Call call("full_like", x.where());
  const Tensor like = x.tensor();
  return full_of(*like.graph, like.shape(), value, like.dtype());
}

Tensor zeros_like(const Operand& x) {
  const Call call("zeros_like", x.where());
  return full_like(x, 0);
}

Tensor ones_like(const Operand& x) {
  const Call call("ones_like", x.where());
  return full_like(x, 1);
}

Tensor constant(Graph& g, Scalar value) { return scalar(g, value); }

Tensor constant(Graph& g, const Shape& shape, std::span<const double> values, DType dtype, SourceLocation where) {
  const Call call("constant", where);
  constexpr size_t kMostValues = 1024;
  if (values.size() > kMostValues) {
    fail(fmt::format("{} values are too many, the limit is {}: make it an input", values.size(), kMostValues));
  }
  if (shape.numel() != Expr(static_cast<int64_t>(values.size()))) {
    fail(fmt::format("{} values do not fill {}", values.size(), shape.str()));
  }
  if (values.empty()) return filled(g, shape, fill_of(dtype, 0));
  const Runs runs = runs_of(values, dtype);
  return choose(g, shape, runs, 0, runs.values.size());
}

Tensor iota(Graph& g, const Shape& shape, Expr value, DType dtype, SourceLocation where) {
  const Call call("iota", where);
  return iota_of(g, shape, value, dtype);
}

Tensor arange(Graph& g, Expr end, DType dtype, SourceLocation where) { return arange(g, 0, end, 1, dtype, where); }

Tensor arange(Graph& g, Expr start, Expr end, Expr step, DType dtype, SourceLocation where) {
  const Call call("arange", where);
  if (!proven(ne(step, 0))) fail(fmt::format("the step must not be 0, got {}", step.str()));
  const Expr count = max(ceil_div(end - start, step), 0);
  return iota_of(g, {count}, start + step * Expr::index(0, count), dtype);
}

Tensor linspace(Graph& g, double start, double end, int64_t steps, DType dtype, SourceLocation where) {
  const Call call("linspace", where);
  if (steps < 0) fail(fmt::format("the number of steps must not be negative, got {}", steps));
  if (steps <= 1) return full_of(g, {steps}, start, dtype);
  const double step = (end - start) / static_cast<double>(steps - 1);
  // From the nearer end, so that both ends are met exactly.
  const Expr at = Expr::index(0, steps);
  const Tensor from_start = start + step * iota_of(g, {steps}, at, DType::f64);
  const Tensor from_end = end - step * iota_of(g, {steps}, steps - 1 - at, DType::f64);
  const Tensor in_first_half = iota_of(g, {steps}, lt(at, steps / 2), DType::bool_);
  return cast_to(select_of(in_first_half, from_start, from_end), dtype);
}

Tensor eye(Graph& g, Expr rows, Expr columns, DType dtype, SourceLocation where) {
  const Call call("eye", where);
  return iota_of(g, {rows, columns}, eq(Expr::index(0, rows), Expr::index(1, columns)), dtype);
}

Tensor tril(const Operand& x, Expr diagonal) {
  const Call call("tril", x.where());
  return keep_where(x.tensor(), le(distance_from_diagonal(x.tensor()), diagonal));
}

Tensor triu(const Operand& x, Expr diagonal) {
  const Call call("triu", x.where());
  return keep_where(x.tensor(), ge(distance_from_diagonal(x.tensor()), diagonal));
}

}  // namespace lumen
