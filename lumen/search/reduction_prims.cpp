#include "lumen/egraph/core/host.h"
#include "lumen/ir/expr_prove.h"
#include "lumen/search/axis_views.h"
#include "lumen/search/rule_prims.h"

namespace lumen {

using egraph::define_primitive;
using egraph::guard;

namespace {

bool has_axis(const TensorType& type, int64_t axis) { return axis >= 0 && axis < type.shape.rank(); }

std::optional<int64_t> source_axis(const View& v, const TensorType& from, int64_t axis) {
  const std::optional<ReducedView> reduced = reduce_first(v, from.shape, axis);
  return reduced ? std::optional(reduced->axis) : std::nullopt;
}

std::optional<View> view_after(const View& v, const TensorType& from, int64_t axis) {
  const std::optional<ReducedView> reduced = reduce_first(v, from.shape, axis);
  return reduced ? std::optional(reduced->view) : std::nullopt;
}

std::optional<View> axis_last(const TensorType& type, int64_t axis) {
  if (!has_axis(type, axis)) return std::nullopt;
  return move_dim(View::identity(type.shape), axis, type.shape.rank() - 1);
}

std::optional<View> sum_dim(const View& v, int64_t summed, int64_t axis) {
  const int64_t kept = v.shape().rank() - summed;
  // A dim of one would be added over and over where a tensor is a sum of itself.
  if (axis < 0 || axis >= kept || v.shape()[axis] == Expr(1)) return std::nullopt;
  return move_dim(v, axis, kept - 1);
}

std::optional<Scalar> count_of(const TensorType& type, int64_t axis) {
  if (!has_axis(type, axis)) return std::nullopt;
  const std::optional<int64_t> size = type.shape[axis].constant();
  if (!size || *size < 1) return std::nullopt;
  const Scalar count = Scalar::of(type.dtype, *size);
  return count.as_double() == static_cast<double>(*size) ? std::optional(count) : std::nullopt;
}

}  // namespace

void add_reduction_primitives(egraph::EGraph& graph) {
  define_primitive(graph, "axis_is", [](const TensorType& type, int64_t axis, int64_t size) {
    return guard(has_axis(type, axis) && type.shape[axis] == Expr(size));
  });
  define_primitive(graph, "nonempty", [](const TensorType& type, int64_t axis) {
    return guard(has_axis(type, axis) && prove_positive(type.shape[axis]));
  });
  define_primitive(graph, "source_axis", source_axis);
  define_primitive(graph, "view_after", view_after);
  define_primitive(graph, "view_before",
                   [](const View& v, const TensorType& from, int64_t axis) { return view_first(v, from.shape, axis); });
  define_primitive(graph, "axis_last", axis_last);
  define_primitive(graph, "count_of", count_of);
  define_primitive(graph, "sum_dim", sum_dim);
  define_primitive(graph, "view_domain",
                   [](const View& outer, const View& v, int64_t summed) { return through_result(outer, v, summed); });
  define_primitive(graph, "without_summed",
                   [](const View& v, int64_t summed) { return without_dims(v, v.shape().rank() - summed, summed); });
}

}  // namespace lumen
