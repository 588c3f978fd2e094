#include "lumen/frontend/reduction.h"

#include <fmt/format.h>

#include <cmath>

#include "lumen/frontend/operators.h"
#include "lumen/frontend/primitives.h"

namespace lumen {

namespace {

// One primitive per axis, the last axis first; what they leave out comes back as 1 with keepdim.
template <class F>
Tensor reduce(Tensor x, const Axes& axes, bool keepdim, F reduce_axis) {
  const Axes sorted = checked_axes(x, axes);
  std::vector<Expr> kept(x.shape().begin(), x.shape().end());
  Tensor result = x;
  for (size_t k = sorted.size(); k-- > 0;) {
    result = reduce_axis(result, sorted[k]);
    kept[static_cast<size_t>(sorted[k])] = 1;
  }
  return keepdim ? reshaped(result, kept) : result;
}

// Integers and bools accumulate in i64. Narrow floats go through f32 so that several axes round once.
Tensor accumulable(Tensor x) { return cast_to(x, is_float(x.dtype()) ? wide(x.dtype()) : DType::i64); }
DType accumulated_dtype(Tensor x) { return is_float(x.dtype()) ? x.dtype() : DType::i64; }

Expr count_of(Tensor x, const Axes& axes) {
  Expr count = 1;
  for (int64_t axis : checked_axes(x, axes)) count *= x.shape()[axis];
  return count;
}

void check_not_empty(Tensor x, const Axes& axes) {
  for (int64_t axis : checked_axes(x, axes)) {
    if (x.shape()[axis] == Expr(0)) fail(fmt::format("axis {} of {} is empty", axis, x.type().str()));
  }
}

// Turns the order of the elements round, and back; NaN stays NaN.
Tensor reversed(Tensor x) { return is_float(x.dtype()) ? neg(x) : complement(x); }

Tensor max_over(Tensor x, const Axes& axes, bool keepdim) { return reduce(x, axes, keepdim, max_reduce); }

Tensor arg_max_over(Tensor x, int64_t axis, bool keepdim) {
  check_not_empty(x, {axis});
  if (x.rank() == 0) return filled(*x.graph, Shape(), fill_of(DType::i64, 0));
  return reduce(x, {axis}, keepdim, arg_max);
}

// The scan of x along an axis, in the dtype that sums have.
Tensor accumulated(Tensor x, int64_t axis, hlir::ScanKind kind) {
  const Tensor v = cast_to(x, accumulated_dtype(x));
  return along_axis(v, axis, [&](Tensor row, int64_t a) { return scan_of(row, a, kind); });
}

// For each element, the last place at or before it where the maximum so far, `values`, is met.
Tensor places_of_max(Tensor x, Tensor values, int64_t axis) {
  const Expr at = Expr::index(static_cast<int>(axis), x.shape()[axis]);
  const Tensor positions = iota_of(*x.graph, x.shape(), at, DType::i64);
  const Tensor leads = logical_or(eq(x, values), isnan(x));
  return scan_of(where(leads, positions, 0), axis, hlir::ScanKind::max);
}

// Prefixes by doubling: after step k every element holds the 2^k elements up to itself. Each step is stable, which
// exp of differences to one maximum for the whole row would not be.
Tensor log_prefix_sums(Tensor x, int64_t axis) {
  const Expr size = x.shape()[axis];
  for (int64_t step = 1; !proven(le(size, step)); step *= 2) {
    x = logaddexp(x, sliced(padded(x, axis, step, 0, least(x.dtype())), axis, 0, size));
  }
  return x;
}

Tensor truth_of(Tensor x) { return is_bool(x.dtype()) ? x : ne(x, 0); }

Tensor variance(Tensor x, const Axes& axes, int64_t correction, bool keepdim) {
  const Tensor deviation = x - mean(x, axes, true);
  return sum(square(deviation), axes, keepdim) / max(count_of(x, axes) - correction, 0);
}

Tensor norm_of(Tensor x, double p, const Axes& axes, bool keepdim) {
  if (p == 0) return cast_to(sum(ne(x, 0), axes, keepdim), x.dtype());
  if (p == 2) return sqrt(sum(square(x), axes, keepdim));
  const Tensor size = abs(x);
  if (std::isinf(p)) return p > 0 ? max(size, axes, keepdim) : min(size, axes, keepdim);
  if (p == 1) return sum(size, axes, keepdim);
  return pow(sum(pow(size, p), axes, keepdim), 1 / p);
}

}  // namespace

Tensor sum(const Operand& x, const Axes& axes, bool keepdim) {
  const Call call("sum", x.where());
  const Tensor v = x.tensor();
  return cast_to(reduce(accumulable(v), axes, keepdim, sum_reduce), accumulated_dtype(v));
}

Tensor prod(const Operand& x, const Axes& axes, bool keepdim) {
  const Call call("prod", x.where());
  const Tensor v = x.tensor();
  return cast_to(reduce(accumulable(v), axes, keepdim, prod_reduce), accumulated_dtype(v));
}

Tensor mean(const Operand& x, const Axes& axes, bool keepdim) {
  const Call call("mean", x.where());
  return in_floats(x, [&](Tensor v) { return sum(v, axes, keepdim) / count_of(v, axes); });
}

Tensor max(const Operand& x, const Axes& axes, bool keepdim) {
  const Call call("max", x.where());
  check_not_empty(x.tensor(), axes);
  return max_over(x.tensor(), axes, keepdim);
}

Tensor min(const Operand& x, const Axes& axes, bool keepdim) {
  const Call call("min", x.where());
  check_not_empty(x.tensor(), axes);
  return reversed(max_over(reversed(x.tensor()), axes, keepdim));
}

Tensor argmax(const Operand& x, int64_t axis, bool keepdim) {
  const Call call("argmax", x.where());
  return arg_max_over(x.tensor(), axis, keepdim);
}

Tensor argmin(const Operand& x, int64_t axis, bool keepdim) {
  const Call call("argmin", x.where());
  return arg_max_over(reversed(x.tensor()), axis, keepdim);
}

Tensor any(const Operand& x, const Axes& axes, bool keepdim) {
  const Call call("any", x.where());
  return max_over(truth_of(x.tensor()), axes, keepdim);
}

Tensor all(const Operand& x, const Axes& axes, bool keepdim) {
  const Call call("all", x.where());
  return not_of(max_over(not_of(truth_of(x.tensor())), axes, keepdim));
}

Tensor var(const Operand& x, const Axes& axes, int64_t correction, bool keepdim) {
  const Call call("var", x.where());
  return in_floats(x, [&](Tensor v) { return variance(v, axes, correction, keepdim); });
}

Tensor stddev(const Operand& x, const Axes& axes, int64_t correction, bool keepdim) {
  const Call call("stddev", x.where());
  return in_floats(x, [&](Tensor v) { return sqrt(variance(v, axes, correction, keepdim)); });
}

Tensor norm(const Operand& x, double p, const Axes& axes, bool keepdim) {
  const Call call("norm", x.where());
  return in_floats(x, [&](Tensor v) { return norm_of(v, p, axes, keepdim); });
}

Tensor logsumexp(const Operand& x, const Axes& axes, bool keepdim) {
  const Call call("logsumexp", x.where());
  return in_floats(x, [&](Tensor v) {
    const Tensor top = max_over(v, axes, true);
    const Tensor shift = where(isinf(top), 0.0, top);  // inf - inf would be NaN
    const Tensor total = sum(exp(v - shift), axes, keepdim);
    return log(total) + reshaped(shift, total.shape());
  });
}

Tensor count_nonzero(const Operand& x, const Axes& axes) {
  const Call call("count_nonzero", x.where());
  return sum(truth_of(x.tensor()), axes);
}

Tensor cumsum(const Operand& x, int64_t axis) {
  const Call call("cumsum", x.where());
  return accumulated(x.tensor(), axis, hlir::ScanKind::sum);
}

Tensor cumprod(const Operand& x, int64_t axis) {
  const Call call("cumprod", x.where());
  return accumulated(x.tensor(), axis, hlir::ScanKind::prod);
}

ValuesAndIndices cummax(const Operand& x, int64_t axis) {
  const Call call("cummax", x.where());
  const auto values = [](Tensor v, int64_t a) { return scan_of(v, a, hlir::ScanKind::max); };
  const auto places = [&](Tensor v, int64_t a) { return places_of_max(v, values(v, a), a); };
  return {along_axis(x.tensor(), axis, values), along_axis(x.tensor(), axis, places)};
}

ValuesAndIndices cummin(const Operand& x, int64_t axis) {
  const Call call("cummin", x.where());
  const ValuesAndIndices result = cummax(reversed(x.tensor()), axis);
  return {reversed(result.values), result.indices};
}

Tensor logcumsumexp(const Operand& x, int64_t axis) {
  const Call call("logcumsumexp", x.where());
  return in_floats(x, [&](Tensor v) { return along_axis(v, axis, log_prefix_sums); });
}

}  // namespace lumen
