#include "lumen/search/rule_prims.h"

#include <cmath>

#include "lumen/egraph/core/host.h"
#include "lumen/ir/expr_prove.h"
#include "lumen/ir/shape.h"
#include "lumen/ir/view.h"
#include "lumen/search/axis_views.h"

namespace lumen {

using egraph::define_primitive;
using egraph::guard;

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

// 1/c where that is exact: c is a power of two, and neither is so small that bits are lost.
std::optional<Scalar> exact_recip(const Scalar& c) {
  if (!is_float(c.dtype) || c.value.f == 0 || !std::isfinite(c.value.f)) return std::nullopt;
  const Scalar inverse = Scalar::of(c.dtype, 1 / c.value.f);
  int exponent = 0;
  if (std::fabs(std::frexp(c.value.f, &exponent)) != 0.5 || inverse.value.f != 1 / c.value.f) return std::nullopt;
  return inverse;
}

// The product, unless it leaves the range in which it is as accurate as its factors.
std::optional<Scalar> mul_constants(const Scalar& a, const Scalar& b) {
  if (a.dtype != b.dtype || !is_float(a.dtype)) return std::nullopt;
  const Scalar product = Scalar::of(a.dtype, a.value.f * b.value.f);
  const double size = std::fabs(product.value.f);
  if (!(size > 0x1p-14) || !(size < 0x1p14)) return std::nullopt;
  return product;
}

// The axis of the indices (of rank r, that stand for axis a) which axis b of what they gather is.
std::optional<int64_t> index_axis(const TensorType& indices, int64_t a, int64_t b) {
  if (b < a || b >= a + indices.shape.rank()) return std::nullopt;
  return b - a;
}

// Gather by computed indices is a view, where they are known to be inside. Only for affine ones: views of those that
// are not have no normal form, and composing them would go on for ever.
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
  const View view(to, from.flat_index(source));
  return affine(view) ? std::optional(view) : std::nullopt;
}

std::optional<View> view_after_gather(const View& v, const TensorType& from, int64_t axis, const TensorType& indices) {
  return gather_first(v, from.shape, axis, indices.shape);
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
  define_primitive(graph, "floating", [](const TensorType& type) { return guard(is_float(type.dtype)); });
  define_primitive(graph, "exact_recip", exact_recip);
  define_primitive(graph, "mul_constants", mul_constants);
  define_primitive(graph, "index_axis", index_axis);
  define_primitive(graph, "gather_view", gather_view);
  define_primitive(graph, "view_after_gather", view_after_gather);
}

}  // namespace lumen
