#include "lumen/search/axis_views.h"

#include <algorithm>

#include "lumen/ir/expr_prove.h"
#include "lumen/ir/view_parts.h"

namespace lumen {

namespace {

Expr coordinate(int64_t k, Expr dim) { return Expr::index(static_cast<int>(k), dim); }

// Of a shape whose dims from `first` on stand `by` places further down: what its coordinates become.
std::vector<std::pair<Expr, Expr>> renumbered(Shape shape, int64_t first, int64_t by) {
  std::vector<std::pair<Expr, Expr>> pairs;
  for (int64_t k = first; k < shape.rank(); ++k) {
    const Expr old = coordinate(k, shape[k]);
    if (!old.is_constant()) pairs.emplace_back(old, coordinate(k - by, shape[k]));
  }
  return pairs;
}

Shape dims_without(Shape shape, int64_t first, int64_t count) {
  std::vector<Expr> dims(shape.begin(), shape.end());
  dims.erase(dims.begin() + first, dims.begin() + first + count);
  return Shape(dims);
}

}  // namespace

std::optional<View> without_dims(View v, int64_t first, int64_t count) {
  const Shape shape = v.shape();
  if (first < 0 || first + count > shape.rank()) return std::nullopt;
  for (int64_t k = first; k < first + count; ++k) {
    const Expr gone = coordinate(k, shape[k]);
    if (!prove_positive(shape[k])) return std::nullopt;
    if (!gone.is_constant() && (depends_on(v.index(), gone) || depends_on(v.guard(), gone))) return std::nullopt;
  }
  const auto moved = renumbered(shape, first + count, count);
  const Shape to = dims_without(shape, first, count);
  return View(to, substitute(v.index(), moved), substitute(v.guard(), moved), v.fill());
}

View move_dim(View v, int64_t axis, int64_t to) {
  std::vector<int64_t> order;
  for (int64_t k = 0; k < v.shape().rank(); ++k) {
    if (k != axis) order.push_back(k);
  }
  order.insert(order.begin() + to, axis);
  return permute(v, order);
}

std::optional<ReducedView> reduce_first(View v, Shape from, int64_t axis) {
  if (v.has_guard() || axis < 0 || axis >= v.shape().rank()) return std::nullopt;
  const Expr walked = coordinate(axis, v.shape()[axis]);
  if (walked.is_constant() || is_empty(v.shape()) || is_empty(from)) return std::nullopt;
  const std::vector<Expr> at = unflatten(v.index(), from.dims());
  const auto found = std::find(at.begin(), at.end(), walked);
  if (found == at.end()) return std::nullopt;
  const int64_t source = found - at.begin();
  if (!(from[source] == v.shape()[axis])) return std::nullopt;
  std::vector<Expr> rest = at;
  rest.erase(rest.begin() + source);
  if (std::any_of(rest.begin(), rest.end(), [&](Expr e) { return depends_on(e, walked); })) return std::nullopt;
  const View read(v.shape(), dims_without(from, source, 1).flat_index(rest));
  const std::optional<View> view = without_dims(read, axis, 1);
  return view ? std::optional(ReducedView{source, *view}) : std::nullopt;
}

std::optional<View> gather_first(View v, Shape from, int64_t axis, Shape indices) {
  const std::optional<ReducedView> others = reduce_first(v, from, axis);
  if (!others) return std::nullopt;
  // The other coordinates, at the places they have beside those of the indices.
  const Shape rest = others->view.shape();
  std::vector<Expr> dims(rest.begin(), rest.end());
  dims.insert(dims.begin() + axis, indices.begin(), indices.end());
  const Shape to(dims);
  const Shape rest_of_source = dims_without(from, others->axis, 1);
  const Expr flat = substitute(others->view.index(), renumbered(rest, axis, -indices.rank()));
  std::vector<Expr> at = unflatten(flat, rest_of_source.dims());
  std::vector<Expr> source(rest_of_source.begin(), rest_of_source.end());
  for (int64_t k = 0; k < indices.rank(); ++k) {
    at.insert(at.begin() + others->axis + k, coordinate(axis + k, indices[k]));
    source.insert(source.begin() + others->axis + k, indices[k]);
  }
  return View(to, Shape(source).flat_index(at));
}

std::optional<View> view_first(View v, Shape from, int64_t axis) {
  if (v.has_guard() || axis < 0 || axis >= from.rank() || v.shape().rank() >= from.rank()) return std::nullopt;
  return through_result(v, move_dim(View::identity(from), axis, from.rank() - 1), 1);
}

std::optional<View> through_result(View outer, View v, int64_t summed) {
  const int64_t kept = v.shape().rank() - summed;
  if (outer.has_guard() || kept < 0) return std::nullopt;
  const Shape rest(v.shape().dims().subspan(static_cast<size_t>(kept)));
  std::vector<Expr> dims(outer.shape().begin(), outer.shape().end());
  dims.insert(dims.end(), rest.begin(), rest.end());
  const Shape domain(dims);
  const std::vector<Expr> at = domain.coordinates();
  const Expr inner = rest.flat_index(std::span(at).subspan(static_cast<size_t>(outer.shape().rank())));
  return compose(View(domain, outer.index() * rest.numel() + inner), v);
}

}  // namespace lumen
