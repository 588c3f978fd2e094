#include "lumen/egraph/core/host.h"
#include "lumen/hlir/cast.h"
#include "lumen/ir/expr_parts.h"
#include "lumen/ir/view.h"
#include "lumen/ir/view_parts.h"
#include "lumen/search/axis_views.h"
#include "lumen/search/rule_prims.h"

namespace lumen {

using egraph::define_primitive;
using egraph::guard;

namespace {

// A cast of one scalar, as the op does it.
Scalar cast_scalar(const Scalar& given, DType to) {
  const hlir::Cast op{to};
  const DType dtypes[] = {given.dtype};
  const Lane* lanes[] = {&given.value};
  Scalar result{to, {}};
  std::string failure;
  hlir::Cast::apply(op, {dtypes, lanes, to, &result.value, 1, &failure});
  return is_float(to) ? Scalar::of(to, result.value.f) : result;
}

View cast_fill(const View& v, DType to) {
  return v.has_guard() ? View(v.shape(), v.index(), v.guard(), cast_scalar(v.fill(), to)) : v;
}

// An empty view reads everything alike, so it would join what has nothing to do with each other.
bool is_whole(const View& v) { return !v.has_guard() && !is_empty(v.shape()); }

// Where the normal form of views does not hold their divisions pile up, which takes ever longer.
bool is_involved(const View& v) {
  constexpr size_t kManyDivisions = 8;
  return divisions(v.index()).size() + divisions(v.guard()).size() > kManyDivisions;
}

std::optional<View> compose_views(const View& outer, const View& inner) {
  if (is_involved(outer) || is_involved(inner)) return std::nullopt;
  return compose(outer, inner);
}

// The values of an Iota are a view of all integers, so composing does what is needed.
std::optional<Expr> iota_value(const View& v, const Shape& shape, const Expr& value) {
  if (v.has_guard()) return std::nullopt;
  const std::optional<View> read = compose(v, View(shape, value));
  return read ? std::optional(read->index()) : std::nullopt;
}

}  // namespace

void add_view_primitives(egraph::EGraph& graph) {
  define_primitive(graph, "identity_view", [](const TensorType& type) { return View::identity(type.shape); });
  define_primitive(graph, "broadcast_view", [](const TensorType& type) { return View(type.shape, 0); });
  define_primitive(graph, "view_rank", [](const View& v) { return v.shape().rank(); });
  define_primitive(graph, "compose", compose_views);
  define_primitive(graph, "unguarded", [](const View& v) { return guard(is_whole(v)); });
  define_primitive(graph, "injective", [](const View& v) { return guard(is_whole(v) && is_injective(v)); });
  define_primitive(graph, "guarded", [](const View& v) { return guard(v.has_guard()); });
  define_primitive(graph, "repeats", [](const View& v) { return guard(is_whole(v) && !is_injective(v)); });
  define_primitive(graph, "all_equal",
                   [](const View& v, const Scalar& c) { return guard(!v.has_guard() || v.fill() == c); });
  define_primitive(graph, "cast_fill", cast_fill);
  define_primitive(graph, "iota_shape", [](const View& v) { return v.shape(); });
  define_primitive(graph, "iota_value", iota_value);
  define_primitive(graph, "without_axis", [](const View& v, int64_t axis) { return without_dims(v, axis, 1); });
}

}  // namespace lumen
