#include <fmt/format.h>

#include "lumen/frontend/movement.h"
#include "lumen/frontend/primitives.h"

namespace lumen {

namespace {

Expr clamp(Expr e, Expr lo, Expr hi) { return max(min(e, hi), lo); }

// What is known to be negative counts from the end.
Expr position(Expr bound, Expr size) { return proven(lt(bound, 0)) ? bound + size : bound; }

struct Range {
  Expr start, count;
};

Range python_range(Expr size, std::optional<Expr> start, std::optional<Expr> stop, int64_t step) {
  if (step > 0) {
    const Expr first = start ? clamp(position(*start, size), 0, size) : Expr(0);
    const Expr end = stop ? clamp(position(*stop, size), 0, size) : size;
    return {first, max(ceil_div(end - first, step), 0)};
  }
  const Expr first = start ? clamp(position(*start, size), -1, size - 1) : size - 1;
  const Expr end = stop ? clamp(position(*stop, size), -1, size - 1) : Expr(-1);
  return {first, max(ceil_div(first - end, -step), 0)};
}

// Crops where a constant amount is negative, pads elsewhere.
Tensor pad_axis(Tensor x, int64_t axis, Expr before, Expr after, Scalar fill) {
  const auto cropped = [](Expr amount) { return Expr(std::max<int64_t>(-amount.constant().value_or(0), 0)); };
  const Expr size = x.shape()[axis];
  if ((size + before + after).constant().value_or(0) < 0) {
    fail(fmt::format("padding axis {} of {} by {} and {} leaves a negative size", axis, x.type().str(), before.str(),
                     after.str()));
  }
  const Expr front = cropped(before);
  const Expr back = cropped(after);
  if (front == Expr(0) && back == Expr(0)) return padded(x, axis, before, after, fill);
  // Pad first: a crop may reach into what the other side adds.
  const Tensor grown = padded(x, axis, before + front, after + back, fill);
  return sliced(grown, axis, front, size + before + after);
}

}  // namespace

Tensor slice(const Operand& x, int64_t axis, std::optional<Expr> start, std::optional<Expr> stop, int64_t step) {
  const Call call("slice", x.where());
  const Tensor v = x.tensor();
  const int64_t a = checked_axis(v, axis);
  if (step == 0) fail("the step must not be 0");
  const Range range = python_range(v.shape()[a], start, stop, step);
  return sliced(v, a, range.count == Expr(0) ? Expr(0) : range.start, range.count, step);
}

Tensor slice(const Operand& x, const std::vector<std::pair<Expr, Expr>>& ranges) {
  const Call call("slice", x.where());
  Tensor v = x.tensor();
  if (static_cast<int64_t>(ranges.size()) > v.rank()) {
    fail(fmt::format("{} ranges for {}", ranges.size(), v.type().str()));
  }
  for (size_t k = 0; k < ranges.size(); ++k) {
    v = slice(v, static_cast<int64_t>(k), ranges[k].first, ranges[k].second);
  }
  return v;
}

Tensor narrow(const Operand& x, int64_t axis, Expr start, Expr length) {
  const Call call("narrow", x.where());
  const Tensor v = x.tensor();
  const int64_t a = checked_axis(v, axis);
  const Expr size = v.shape()[a];
  const Expr first = position(start, size);
  if (refuted(ge(first, 0)) || refuted(ge(length, 0)) || refuted(le(first + length, size))) {
    fail(fmt::format("{} elements from {} exceed axis {} of {}", length.str(), start.str(), axis, v.type().str()));
  }
  return sliced(v, a, length == Expr(0) ? Expr(0) : first, length);
}

Tensor select(const Operand& x, int64_t axis, Expr index) {
  const Call call("select", x.where());
  const Tensor v = x.tensor();
  const int64_t a = checked_axis(v, axis);
  const Expr at = position(index, v.shape()[a]);
  if (refuted(ge(at, 0)) || refuted(lt(at, v.shape()[a]))) {
    fail(fmt::format("index {} out of range for axis {} of {}", index.str(), axis, v.type().str()));
  }
  const Tensor one = sliced(v, a, at, 1);
  return reshaped(one, without(one.shape(), a));
}

Tensor pad(const Operand& x, const std::vector<std::pair<Expr, Expr>>& amounts, const Operand& value) {
  const Call call("pad", x.where());
  Tensor v = x.tensor();
  if (static_cast<int64_t>(amounts.size()) > v.rank()) {
    fail(fmt::format("{} amounts for {}", amounts.size(), v.type().str()));
  }
  const Scalar fill = fill_of(v.dtype(), value);
  for (size_t k = 0; k < amounts.size(); ++k) {
    v = pad_axis(v, static_cast<int64_t>(k), amounts[k].first, amounts[k].second, fill);
  }
  return v;
}

Tensor pad_along(const Operand& x, int64_t axis, Expr before, Expr after, const Operand& value) {
  const Call call("pad_along", x.where());
  const Tensor v = x.tensor();
  return pad_axis(v, checked_axis(v, axis), before, after, fill_of(v.dtype(), value));
}

Tensor unfold(const Operand& x, int64_t axis, Expr size, Expr step, Expr dilation) {
  const Call call("unfold", x.where());
  const Tensor v = x.tensor();
  const int64_t a = checked_axis(v, axis);
  for (const auto& [what, e] : {std::pair{"size", size}, std::pair{"step", step}, std::pair{"dilation", dilation}}) {
    if (refuted(ge(e, 1))) fail(fmt::format("the {} must be positive, got {}", what, e.str()));
  }
  const Expr reach = dilation * (size - 1) + 1;
  if (refuted(le(reach, v.shape()[a]))) {
    fail(fmt::format("a window of {} elements does not fit axis {} of {}", reach.str(), axis, v.type().str()));
  }
  return moved(v, [&](View view) { return unfold(view, a, size, step, dilation); });
}

}  // namespace lumen
