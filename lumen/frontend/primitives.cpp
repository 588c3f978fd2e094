#include "lumen/frontend/primitives.h"

#include <cmath>
#include <limits>
#include <optional>

#include "lumen/hlir/binary.h"
#include "lumen/hlir/cast.h"
#include "lumen/hlir/lanes.h"
#include "lumen/hlir/leaves.h"
#include "lumen/hlir/reduce.h"
#include "lumen/hlir/select.h"

namespace lumen {

namespace {

// Nothing where only the primitive's own meaning says what happens: a float outside the integer's range.
std::optional<Scalar> cast_scalar(const Scalar& value, DType to) {
  const bool from_float = is_float(value.dtype);
  if (is_bool(to)) return Scalar::of(to, int64_t{from_float ? value.value.f != 0 : value.value.i != 0});
  if (is_float(to)) return Scalar::of(to, value.as_double());
  if (!from_float) return Scalar::of(to, value.value.i);
  const double truncated = std::trunc(value.value.f);
  if (!(std::abs(truncated) < 0x1p62)) return std::nullopt;
  const auto integer = static_cast<int64_t>(truncated);
  if (wrap_to(to, integer) != integer) return std::nullopt;
  return Scalar::of(to, integer);
}

template <class Op>
Tensor along(Tensor x, int64_t axis) {
  Op op;
  op.axis = axis;
  return emit(op, {x});
}

}  // namespace

Tensor scalar(Graph& g, Scalar value) {
  hlir::Constant op;
  op.value = value;
  return emit(g, op);
}

Scalar fill_of(DType dtype, const Operand& value) {
  struct Visitor {
    DType dtype;
    Scalar operator()(const Tensor&) const { fail("the fill must be a number, not a tensor"); }
    Scalar operator()(bool v) const { return (*this)(int64_t{v}); }
    Scalar operator()(int64_t v) const {
      return is_float(dtype) ? Scalar::of(dtype, static_cast<double>(v)) : Scalar::of(dtype, v);
    }
    Scalar operator()(double v) const {
      const auto cast = cast_scalar(Scalar::of(DType::f64, v), dtype);
      if (!cast) fail("the fill " + Scalar::of(DType::f64, v).str() + " is no value of " + std::string(name(dtype)));
      return *cast;
    }
    Scalar operator()(const Expr& v) const {
      if (!v.is_constant()) fail("the fill must be a number, not the dim " + v.str());
      return (*this)(*v.constant());
    }
  };
  return std::visit(Visitor{dtype}, value.value());
}

Tensor number(Graph& g, DType dtype, const Operand& value) {
  const auto* expr = std::get_if<Expr>(&value.value());
  if (expr != nullptr && !expr->is_constant()) return iota_of(g, Shape(), *expr, dtype);
  return scalar(g, fill_of(dtype, value));
}

Tensor filled(Graph& g, const Shape& shape, Scalar value) { return broadcast(scalar(g, value), shape); }

Tensor iota_of(Graph& g, const Shape& shape, Expr value, DType dtype) {
  hlir::Iota op;
  op.shape = shape;
  op.value = value;
  op.dtype = is_float(dtype) ? DType::i64 : dtype;
  return cast_to(emit(g, op), dtype);
}

Tensor select_of(Tensor condition, Tensor a, Tensor b) { return emit(hlir::Select{}, {condition, a, b}); }

Tensor not_of(Tensor condition) {
  const Tensor yes = filled(*condition.graph, condition.shape(), Scalar::of(DType::bool_, int64_t{1}));
  return emit(hlir::BitXor{}, {condition, yes});
}

Tensor cast_to(Tensor x, DType to) {
  if (x.dtype() == to) return x;
  if (x.node().is<hlir::Constant>()) {
    if (const auto value = cast_scalar(x.node().as<hlir::Constant>().value, to)) return scalar(*x.graph, *value);
  }
  hlir::Cast op;
  op.to = to;
  return emit(op, {x});
}

Tensor complement(Tensor x) {
  const int64_t ones = is_bool(x.dtype()) ? 1 : -1;
  return emit(hlir::BitXor{}, {x, filled(*x.graph, x.shape(), Scalar::of(x.dtype(), ones))});
}

Tensor broadcast(Tensor x, const Shape& to) {
  if (x.shape() == to) return x;
  return moved(x, [&](View v) { return expand(v, to); });
}

Tensor reshaped(Tensor x, const Shape& to) {
  return moved(x, [&](View v) { return reshape(v, to); });
}

Tensor permuted(Tensor x, const std::vector<int64_t>& order) {
  return moved(x, [&](View v) { return permute(v, order); });
}

Tensor sliced(Tensor x, int64_t axis, Expr start, Expr count, Expr step) {
  return moved(x, [&](View v) { return slice(v, axis, start, count, step); });
}

Tensor padded(Tensor x, int64_t axis, Expr before, Expr after, Scalar fill) {
  if (before == Expr(0) && after == Expr(0)) return x;
  const Seen seen = see(x);
  if (const auto view = pad(seen.view, axis, before, after, fill)) return look(seen.source, *view);
  return look(x, *pad(View::identity(x.shape()), axis, before, after, fill));
}

Tensor inserted(Tensor x, int64_t axis) { return reshaped(x, with_inserted(x.shape(), axis, 1)); }

Tensor sum_reduce(Tensor x, int64_t axis) { return along<hlir::SumReduce>(x, axis); }
Tensor max_reduce(Tensor x, int64_t axis) { return along<hlir::MaxReduce>(x, axis); }
Tensor prod_reduce(Tensor x, int64_t axis) { return along<hlir::ProdReduce>(x, axis); }
Tensor arg_max(Tensor x, int64_t axis) { return along<hlir::ArgMax>(x, axis); }

Tensor scan_of(Tensor x, int64_t axis, hlir::ScanKind kind) {
  hlir::Scan op;
  op.axis = axis;
  op.kind = kind;
  return emit(op, {x});
}

Tensor gather_of(Tensor x, Tensor indices, int64_t axis) {
  hlir::Gather op;
  op.axis = axis;
  return emit(op, {x, indices});
}

Tensor scatter_of(Tensor x, Tensor indices, Tensor source, int64_t axis, hlir::ScatterMode mode) {
  hlir::Scatter op;
  op.axis = axis;
  op.mode = mode;
  return emit(op, {x, indices, source});
}

Scalar least(DType dtype) { return {dtype, hlir::lowest(dtype)}; }

Scalar positive_infinity(DType dtype) { return Scalar::of(dtype, std::numeric_limits<double>::infinity()); }

DType wide(DType dtype) { return is_float(dtype) && dtype != DType::f64 ? DType::f32 : dtype; }

Tensor floats(Tensor x) { return is_float(x.dtype()) ? x : cast_to(x, DType::f32); }

}  // namespace lumen
