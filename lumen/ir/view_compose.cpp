#include "lumen/ir/view_parts.h"

namespace lumen {

namespace {

std::optional<View> compose_in(const CoordinateChange& change, View outer, View inner) {
  if (change.is_void()) return View(outer.shape(), 0, 0, outer.fill());
  const std::vector<Expr> coords = unflatten(change.enter(outer.index()), inner.shape().dims());
  const Read read = read_at(inner, coords);
  const bool inner_guarded = read.guard != Expr(1);
  if (outer.has_guard() && inner_guarded && outer.fill() != inner.fill()) return std::nullopt;
  const Expr guard = logical_and(outer.guard(), change.leave(read.guard));
  return View(outer.shape(), change.leave(read.index), guard, inner_guarded ? inner.fill() : outer.fill());
}

size_t count_divisions(View v) { return divisions(v.index()).size() + divisions(v.guard()).size(); }

}  // namespace

std::optional<View> compose(View outer, View inner) {
  const Shape shape = outer.shape();
  if (is_empty(shape) || is_identity(inner) || outer.guard() == Expr(0)) return outer;
  if (is_identity(outer) && shape.numel() == inner.shape().numel()) return reshape(inner, shape);
  if (is_empty(inner.shape())) return View(shape, 0, 0, outer.fill());

  CoordinateChange change;
  change.tighten(outer.guard(), outer.index());
  const std::optional<View> plain = compose_in(change, outer, inner);
  CoordinateChange split_change;
  const bool is_final = plain && count_divisions(*plain) == 0;
  if (is_final || !split_change.split(outer.index() + outer.guard())) return plain;
  split_change.tighten(outer.guard(), outer.index());
  const std::optional<View> split = compose_in(split_change, outer, inner);
  return !plain || (split && count_divisions(*split) <= count_divisions(*plain)) ? split : plain;
}

}  // namespace lumen
