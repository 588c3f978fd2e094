#include "lumen/frontend/promote.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "lumen/frontend/build.h"
#include "lumen/frontend/primitives.h"

namespace lumen {

namespace {

DType promote_floats(DType a, DType b) {
  const auto is_small = [](DType d) { return info(d).bits <= 8; };
  if (is_small(a) && is_small(b)) return DType::f32;
  if (is_small(a)) return b;
  if (is_small(b)) return a;
  const auto either = [&](DType d) { return a == d || b == d; };
  if (either(DType::f64)) return DType::f64;
  if (either(DType::f32)) return DType::f32;
  if (either(DType::tf32)) return DType::tf32;
  return DType::f32;  // f16 with bf16
}

DType promote_ints(DType a, DType b) {
  if (is_unsigned(a) == is_unsigned(b)) return info(a).bits > info(b).bits ? a : b;
  const DType u = is_unsigned(a) ? a : b;
  const DType s = is_unsigned(a) ? b : a;
  for (DType wider : {DType::i8, DType::i16, DType::i32}) {
    if (info(wider).bits > info(u).bits && info(wider).bits >= info(s).bits) return wider;
  }
  return DType::i64;
}

enum class Kind : uint8_t { boolean, integer, floating };

Kind kind_of(DType d) { return is_float(d) ? Kind::floating : is_bool(d) ? Kind::boolean : Kind::integer; }

// Of a number; a tensor counts by its dtype.
Kind kind_of(const Operand& operand) {
  struct Visitor {
    Kind operator()(const Tensor& x) const { return kind_of(x.dtype()); }
    Kind operator()(bool) const { return Kind::boolean; }
    Kind operator()(int64_t) const { return Kind::integer; }
    Kind operator()(double) const { return Kind::floating; }
    Kind operator()(const Expr&) const { return Kind::integer; }
  };
  return std::visit(Visitor{}, operand.value());
}

Graph& graph_of(std::span<const Operand> operands) {
  for (const Operand& operand : operands) {
    if (operand.is_tensor()) return *operand.tensor().graph;
  }
  fail("needs a tensor: only numbers were given");
}

// Tensors as `dtype` and then as `in`; numbers as `in`.
std::vector<Tensor> held_in(std::span<const Operand> operands, DType dtype, DType in) {
  Graph& g = graph_of(operands);
  std::vector<Tensor> result;
  for (const Operand& operand : operands) {
    const bool is_tensor = operand.is_tensor();
    result.push_back(is_tensor ? cast_to(cast_to(operand.tensor(), dtype), in) : number(g, in, operand));
    if (result.back().graph != &g) fail("operands belong to different graphs");
  }
  return result;
}

std::vector<Tensor> broadcast_together(std::vector<Tensor> xs) {
  std::vector<Shape> shapes;
  for (const Tensor& x : xs) shapes.push_back(x.shape());
  const Shape to = broadcast_shapes(shapes);
  for (Tensor& x : xs) x = broadcast(x, to);
  return xs;
}

}  // namespace

DType promote(DType a, DType b) {
  if (a == b) return a;
  if (is_float(a) && is_float(b)) return promote_floats(a, b);
  if (is_float(a) || is_bool(b)) return a;
  if (is_float(b) || is_bool(a)) return b;
  return promote_ints(a, b);
}

DType common_dtype(std::span<const Operand> operands) {
  std::optional<DType> dimmed;   // of the tensors with dims
  std::optional<DType> scalars;  // of the 0-D ones
  Kind kind = Kind::boolean;
  for (const Operand& operand : operands) {
    kind = std::max(kind, kind_of(operand));
    if (!operand.is_tensor()) continue;
    const DType d = operand.tensor().dtype();
    std::optional<DType>& group = operand.tensor().rank() == 0 ? scalars : dimmed;
    group = group ? promote(*group, d) : d;
  }
  if (!dimmed && !scalars) fail("needs a tensor: only numbers were given");
  const bool lifted = !dimmed || (scalars && kind_of(*scalars) > kind_of(*dimmed));
  const DType dtype = lifted ? *scalars : *dimmed;
  if (kind == kind_of(dtype)) return dtype;
  return kind == Kind::floating ? DType::f32 : DType::i64;
}

DType float_dtype(std::span<const Operand> operands) {
  const DType dtype = common_dtype(operands);
  return is_float(dtype) ? dtype : DType::f32;
}

std::vector<Tensor> promote_only(std::span<const Operand> operands) {
  const DType dtype = common_dtype(operands);
  return held_in(operands, dtype, dtype);
}

std::vector<Tensor> promote_and_broadcast(std::span<const Operand> operands) {
  return broadcast_together(promote_only(operands));
}

std::vector<Tensor> promote_to_floats(std::span<const Operand> operands, DType in) {
  return broadcast_together(held_in(operands, float_dtype(operands), in));
}

Shape broadcast_shapes(std::span<const Shape> shapes) {
  std::vector<Expr> dims;  // reversed: the last dim first
  for (const Shape& shape : shapes) {
    const auto given = shape.dims();
    dims.resize(std::max(dims.size(), given.size()), Expr(1));
    for (size_t k = 0; k < given.size(); ++k) {
      const Expr dim = given[given.size() - 1 - k];
      if (dims[k] == Expr(1)) {
        dims[k] = dim;
      } else if (dim != Expr(1) && dims[k] != dim) {
        fail(fmt::format("shapes {} and {} do not broadcast",
                         Shape(std::vector<Expr>(dims.rbegin(), dims.rend())).str(), shape.str()));
      }
    }
  }
  return Shape(std::vector<Expr>(dims.rbegin(), dims.rend()));
}

}  // namespace lumen
