#include "lumen/ir/scope.h"

#include <fmt/format.h>

#include <bit>

#include "lumen/ir/graph.h"

namespace lumen {

namespace {

template <class T>
const T& field_as(const void* fields, const FieldInfo& field) {
  return *reinterpret_cast<const T*>(static_cast<const std::byte*>(fields) + field.offset);
}

void collect(Expr e, std::vector<Expr>& dims) {
  for (const Expr& variable : variables(e)) {
    if (variable.kind() != ExprKind::index) {
      dims.push_back(variable);
    } else {
      collect(variable.index_extent(), dims);
    }
  }
}

}  // namespace

void collect_dims(const Shape& shape, std::vector<Expr>& dims) {
  for (const Expr& dim : shape) collect(dim, dims);
}

void collect_dims(const OpDef& op, const void* fields, std::vector<Expr>& dims) {
  for (const FieldInfo& field : op.fields) {
    if (field.type == &field_type<Shape>()) {
      collect_dims(field_as<Shape>(fields, field), dims);
    } else if (field.type == &field_type<Expr>()) {
      collect(field_as<Expr>(fields, field), dims);
    } else if (field.type == &field_type<View>()) {
      const View& view = field_as<View>(fields, field);
      collect_dims(view.shape(), dims);
      collect(view.index(), dims);
      collect(view.guard(), dims);
    } else if (field.type == &field_type<Body>()) {
      const auto of_body = field_as<Body>(fields, field).graph->dims();
      dims.insert(dims.end(), of_body.begin(), of_body.end());
    }
  }
}

Expected<void> Scope::check_variable(std::string_view op, Expr e, Expr variable, const Shape& extents) const {
  if (variable.kind() == ExprKind::index) {
    const int k = variable.index_number();
    if (k >= extents.rank()) {
      return error(fmt::format("[{}] `{}` has the coordinate i{}, but the shape is {}", op, e.str(), k, extents.str()));
    }
    if (variable.index_extent() == extents[k]) return {};
    return error(fmt::format("[{}] i{} in `{}` is below {}, but dim {} of {} is {}", op, k, e.str(),
                             variable.index_extent().str(), k, extents.str(), extents[k].str()));
  }
  const std::optional<Expr> declared = graph_.find_dim(variable.dim_name());
  if (!declared) return error(fmt::format("[{}] dim `{}` is not declared in this graph", op, variable.dim_name()));
  if (*declared == variable) return {};
  const auto [lo, hi] = variable.dim_bounds();
  const auto [declared_lo, declared_hi] = declared->dim_bounds();
  return error(fmt::format("[{}] dim `{}` is {}..{} here, but this graph declares {}..{}", op, variable.dim_name(), lo,
                           hi, declared_lo, declared_hi));
}

Expected<void> Scope::check(std::string_view op, Expr e, const Shape& extents) {
  const std::pair key{std::bit_cast<uintptr_t>(e), std::bit_cast<uintptr_t>(extents)};
  if (seen_.contains(key)) return {};
  if (e.kind() == ExprKind::undefined) {
    return error(fmt::format("[{}] an expression is undefined: it divides by 0 or does not fit in 64 bits", op));
  }
  for (const Expr& variable : variables(e)) LUMEN_TRY(check_variable(op, e, variable, extents));
  seen_.insert(key);
  return {};
}

Expected<void> Scope::check_shape(std::string_view op, const Shape& shape) {
  const std::pair key{std::bit_cast<uintptr_t>(shape), uintptr_t{0}};
  if (seen_.contains(key)) return {};
  if (shape.rank() > kMaxRank) {
    return error(fmt::format("[{}] rank {} is above {}", op, shape.rank(), kMaxRank));
  }
  bool empty = false;
  for (const Expr& dim : shape) {
    LUMEN_TRY(check(op, dim, Shape()));
    if (dim.constant().value_or(0) < 0) return error(fmt::format("[{}] a dim of {} is negative", op, shape.str()));
    empty = empty || dim == Expr(0);
  }
  if (!empty && shape.numel().kind() == ExprKind::undefined) {
    return error(fmt::format("[{}] the element count of {} does not fit in 64 bits", op, shape.str()));
  }
  seen_.insert(key);
  return {};
}

Expected<void> Scope::check(std::string_view op, const View& view) {
  LUMEN_TRY(check_shape(op, view.shape()));
  LUMEN_TRY(check(op, view.index(), view.shape()));
  return check(op, view.guard(), view.shape());
}

Expected<void> Scope::check(const OpDef& op, const Shape& shape) { return check_shape(op.name, shape); }

Expected<void> Scope::check(const OpDef& op, const void* fields) {
  Shape extents;
  for (const FieldInfo& field : op.fields) {
    if (field.type == &field_type<Shape>()) {
      extents = field_as<Shape>(fields, field);
      LUMEN_TRY(check_shape(op.name, extents));
    } else if (field.type == &field_type<Expr>()) {
      LUMEN_TRY(check(op.name, field_as<Expr>(fields, field), extents));
    } else if (field.type == &field_type<View>()) {
      LUMEN_TRY(check(op.name, field_as<View>(fields, field)));
    } else if (field.type == &field_type<Body>()) {
      const Graph* body = field_as<Body>(fields, field).graph;
      if (body == nullptr) return error(fmt::format("[{}] the {} is missing", op.name, field.name));
      for (const Expr& dim : body->dims()) LUMEN_TRY(check(op.name, dim, Shape()));
    }
  }
  return {};
}

}  // namespace lumen
