#include <fmt/format.h>

#include "lumen/base/check.h"
#include "lumen/ir/view_parts.h"

namespace lumen {

namespace {

size_t checked_axis(View v, int64_t axis) {
  CHECK(axis >= 0 && axis < v.shape().rank(), fmt::format("axis {} of {}", axis, v.shape().str()));
  return static_cast<size_t>(axis);
}

std::vector<Expr> dims_of(View v) { return {v.shape().begin(), v.shape().end()}; }

Expr coordinate(size_t k, Expr dim) { return Expr::index(static_cast<int>(k), dim); }

// v with one dim replaced; `at` gives v's coordinate there for the new one.
template <class At>
View along(View v, int64_t axis, Expr new_dim, At at) {
  const size_t a = checked_axis(v, axis);
  std::vector<Expr> dims = dims_of(v);
  dims[a] = new_dim;
  const Shape to(dims);
  if (is_empty(to)) return View(to, 0);
  std::vector<Expr> coords = to.coordinates();
  coords[a] = at(coords[a]);
  return read_at(v, to, coords);
}

// Whether the constant `e` lies in [0, dim); what is symbolic counts as inside, for the frontend has checked it.
bool may_be_inside(Expr e, Expr dim) {
  const auto value = e.constant();
  if (!value) return true;
  return *value >= 0 && (!dim.is_constant() || *value < *dim.constant());
}

// Matching cuts of two dim lists with equal products: the dims between neighbouring cuts have equal products too, so
// a reshape can treat each group by itself and what does not change needs no division.
std::vector<std::pair<size_t, size_t>> matching_cuts(std::span<const Expr> from, std::span<const Expr> to) {
  const auto prefix_products = [](std::span<const Expr> dims) {
    std::vector<Expr> products{Expr(1)};
    for (const Expr& dim : dims) products.push_back(products.back() * dim);
    return products;
  };
  const std::vector<Expr> from_products = prefix_products(from);
  const std::vector<Expr> to_products = prefix_products(to);
  std::vector<std::pair<size_t, size_t>> cuts{{0, 0}};
  for (size_t i = 1; i < from.size(); ++i) {
    size_t j = cuts.back().second;
    while (j <= to.size() && to_products[j] != from_products[i]) ++j;
    if (j <= to.size()) cuts.emplace_back(i, j);
  }
  cuts.emplace_back(from.size(), to.size());
  return cuts;
}

}  // namespace

View permute(View v, std::span<const int64_t> order) {
  const Shape from = v.shape();
  CHECK(order.size() == from.dims().size(), fmt::format("{} axes for {}", order.size(), from.str()));
  std::vector<Expr> dims;
  std::vector<bool> seen(order.size(), false);
  for (int64_t axis : order) {
    const size_t a = checked_axis(v, axis);
    CHECK(!seen[a], fmt::format("axis {} twice", axis));
    seen[a] = true;
    dims.push_back(from[axis]);
  }
  const Shape to(dims);
  if (is_empty(to)) return View(to, 0);
  std::vector<Expr> coords(order.size(), Expr(0));
  for (size_t k = 0; k < order.size(); ++k) coords[static_cast<size_t>(order[k])] = coordinate(k, dims[k]);
  return read_at(v, to, coords);
}

View expand(View v, Shape to) {
  const Shape from = v.shape();
  CHECK(from.rank() <= to.rank(), fmt::format("{} to {}", from.str(), to.str()));
  if (is_empty(to)) return View(to, 0);
  const size_t added = to.dims().size() - from.dims().size();
  std::vector<Expr> coords;
  for (size_t k = added; k < to.dims().size(); ++k) {
    const Expr dim = from.dims()[k - added];
    CHECK(dim == Expr(1) || dim == to.dims()[k], fmt::format("{} to {}", from.str(), to.str()));
    coords.push_back(dim == Expr(1) ? Expr(0) : coordinate(k, dim));
  }
  return read_at(v, to, coords);
}

View reshape(View v, Shape to) {
  const Shape from = v.shape();
  if (from == to) return v;
  const Expr had = from.numel();
  const Expr wanted = to.numel();
  CHECK(had == wanted || !had.is_constant() || !wanted.is_constant(), fmt::format("{} to {}", from.str(), to.str()));
  if (is_empty(to)) return View(to, 0);
  const std::vector<Expr> new_coords = to.coordinates();
  std::vector<Expr> coords;
  const auto cuts = matching_cuts(from.dims(), to.dims());
  for (size_t c = 0; c + 1 < cuts.size(); ++c) {
    const auto [from_begin, to_begin] = cuts[c];
    const auto [from_end, to_end] = cuts[c + 1];
    const Shape group(to.dims().subspan(to_begin, to_end - to_begin));
    const Expr flat = group.flat_index(std::span(new_coords).subspan(to_begin, to_end - to_begin));
    for (const Expr& coord : unflatten(flat, from.dims().subspan(from_begin, from_end - from_begin))) {
      coords.push_back(coord);
    }
  }
  return read_at(v, to, coords);
}

View slice(View v, int64_t axis, Expr start, Expr count, Expr step) {
  CHECK(step != Expr(0), "slice with step 0");
  const Expr dim = v.shape()[axis];
  if (count != Expr(0)) {
    CHECK(may_be_inside(start, dim) && may_be_inside(start + step * (count - 1), dim),
          fmt::format("{} elements from {} by {} of axis {} of {}", count.str(), start.str(), step.str(), axis,
                      v.shape().str()));
  }
  return along(v, axis, count, [&](Expr i) { return start + step * i; });
}

std::optional<View> pad(View v, int64_t axis, Expr before, Expr after, Scalar fill) {
  CHECK(before.constant().value_or(0) >= 0 && after.constant().value_or(0) >= 0,
        fmt::format("pad by {} and {}", before.str(), after.str()));
  const Expr dim = v.shape()[axis];
  if (before == Expr(0) && after == Expr(0)) return v;
  if (v.has_guard() && v.fill() != fill) return std::nullopt;
  const View shifted = along(v, axis, before + dim + after, [&](Expr i) { return i - before; });
  if (is_empty(shifted.shape())) return shifted;
  if (is_empty(v.shape())) return View(shifted.shape(), 0, 0, fill);
  const Expr i = coordinate(static_cast<size_t>(axis), shifted.shape()[axis]);
  const Expr inside = logical_and(ge(i, before), lt(i, before + dim));
  return View(shifted.shape(), shifted.index(), logical_and(inside, shifted.guard()), fill);
}

View flip(View v, int64_t axis) {
  const Expr dim = v.shape()[axis];
  return along(v, axis, dim, [&](Expr i) { return dim - 1 - i; });
}

View roll(View v, int64_t axis, Expr shift) {
  const Expr dim = v.shape()[axis];
  return along(v, axis, dim, [&](Expr i) { return mod(i - shift, dim); });
}

View repeat(View v, int64_t axis, Expr times) {
  const Expr dim = v.shape()[axis];
  return along(v, axis, dim * times, [&](Expr i) { return mod(i, dim); });
}

View unfold(View v, int64_t axis, Expr kernel, Expr stride, Expr dilation) {
  const size_t a = checked_axis(v, axis);
  for (const Expr& e : {kernel, stride, dilation}) {
    CHECK(e.constant().value_or(1) >= 1,
          fmt::format("window {} by {} dilated {}", kernel.str(), stride.str(), dilation.str()));
  }
  const Expr windows = floor_div(v.shape()[axis] - dilation * (kernel - 1) - 1, stride) + 1;
  CHECK(windows.constant().value_or(0) >= 0, fmt::format("window {} of {}", kernel.str(), v.shape().str()));
  std::vector<Expr> dims = dims_of(v);
  dims[a] = windows;
  dims.push_back(kernel);
  const Shape to(dims);
  if (is_empty(to)) return View(to, 0);
  std::vector<Expr> coords = to.coordinates();
  coords[a] = coords[a] * stride + coords.back() * dilation;
  coords.pop_back();
  return read_at(v, to, coords);
}

View diagonal(View v, int64_t axis0, int64_t axis1, Expr offset, Expr count) {
  const size_t a0 = checked_axis(v, axis0);
  const size_t a1 = checked_axis(v, axis1);
  CHECK(a0 != a1, fmt::format("diagonal of axis {} with itself", axis0));
  std::vector<Expr> dims;
  for (size_t k = 0; k < v.shape().dims().size(); ++k) {
    if (k != a0 && k != a1) dims.push_back(v.shape().dims()[k]);
  }
  dims.push_back(count);
  const Shape to(dims);
  if (is_empty(to)) return View(to, 0);
  const std::vector<Expr> new_coords = to.coordinates();
  std::vector<Expr> coords;
  for (size_t k = 0, next = 0; k < v.shape().dims().size(); ++k) {
    if (k == a0) {
      coords.push_back(new_coords.back() + max(0, -offset));
    } else if (k == a1) {
      coords.push_back(new_coords.back() + max(0, offset));
    } else {
      coords.push_back(new_coords[next++]);
    }
  }
  return read_at(v, to, coords);
}

}  // namespace lumen
