#include "lumen/search/rule_prims.h"

#include <cmath>

#include "lumen/egraph/core/host.h"
#include "lumen/ir/expr_prove.h"
#include "lumen/ir/shape.h"
#include "lumen/ir/view.h"

namespace lumen {

using egraph::define_primitive;
using egraph::guard;
using egraph::Unit;

namespace {

// Whether every value of `from` is one of `to`; NaN is a value.
bool widens(DType from, DType to) {
  if (from == to || is_bool(from)) return true;
  const int from_bits = info(from).bits;
  if (is_float(from)) return (to == f32 && from_bits <= 32) || to == f64;
  const int magnitude = from_bits - (is_unsigned(from) ? 0 : 1);
  if (is_float(to)) return (to == f32 && magnitude <= 24) || (to == f64 && magnitude <= 53);
  if (is_bool(to) || (is_unsigned(to) && !is_unsigned(from))) return false;
  return magnitude <= info(to).bits - (is_unsigned(to) ? 0 : 1);
}

// Between integers a cast wraps, from a float it saturates: so an integer must not pass through a float on its way to
// another integer, though the float could hold it.
bool is_cast_through(DType from, DType through, DType to) {
  if (!widens(from, through)) return false;
  const bool becomes_float = is_float(through) && !is_float(from) && !is_bool(from);
  return !becomes_float || is_float(to) || is_bool(to);
}

bool is_neutral_add(const Scalar& c) {
  return is_float(c.dtype) ? c.value.f == 0 && std::signbit(c.value.f) : c.value.i == 0;
}

bool is_positive(const Scalar& c) {
  if (is_float(c.dtype)) return c.value.f > 0 && std::isfinite(c.value.f);
  return c.value.i > 0;
}

// Gather by computed indices is a view, where they are known to be inside.
std::optional<View> gather_view(const TensorType& type, int64_t axis, const Shape& shape, const Expr& value) {
  const Shape from = type.shape;
  if (axis < 0 || axis >= from.rank()) return std::nullopt;
  if (!prove_ge0(value) || !prove_lt(value, from[axis])) return std::nullopt;
  std::vector<Expr> dims(from.begin(), from.begin() + axis);
  dims.insert(dims.end(), shape.begin(), shape.end());
  dims.insert(dims.end(), from.begin() + axis + 1, from.end());
  const Shape to(dims);
  const std::vector<Expr> at = to.coordinates();
  std::vector<std::pair<Expr, Expr>> moved;
  for (int64_t k = 0; k < shape.rank(); ++k) {
    const Expr coordinate = Expr::index(static_cast<int>(k), shape[k]);
    if (!coordinate.is_constant()) moved.emplace_back(coordinate, at[static_cast<size_t>(axis + k)]);
  }
  std::vector<Expr> source(at.begin(), at.begin() + axis);
  source.push_back(substitute(value, moved));
  source.insert(source.end(), at.begin() + axis + shape.rank(), at.end());
  return View(to, from.flat_index(source));
}

}  // namespace

void add_rule_primitives(egraph::EGraph& graph) {
  add_view_primitives(graph);
  add_reduction_primitives(graph);
  define_primitive(graph, "dtype_of", [](const TensorType& type) { return type.dtype; });
  define_primitive(graph, "neutral_add", [](const Scalar& c) { return guard(is_neutral_add(c)); });
  define_primitive(graph, "neutral_mul", [](const Scalar& c) { return guard(c == Scalar::of(c.dtype, 1)); });
  define_primitive(graph, "is_zero", [](const Scalar& c) { return guard(c == Scalar::of(c.dtype, 0)); });
  define_primitive(graph, "positive", [](const Scalar& c) { return guard(is_positive(c)); });
  define_primitive(graph, "cast_through", [](const TensorType& type, DType through, DType to) {
    return guard(is_cast_through(type.dtype, through, to));
  });
  define_primitive(graph, "gather_view", gather_view);
}

}  // namespace lumen
