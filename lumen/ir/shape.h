// Shape: an interned list of symbolic dims. TensorType: a dtype and a shape. Both are cheap handles.
#pragma once

#include <initializer_list>
#include <span>
#include <string>
#include <vector>

#include "lumen/ir/dtype.h"
#include "lumen/ir/expr.h"

namespace lumen {

struct ShapeNode;

class Shape {
 public:
  Shape();
  Shape(std::initializer_list<Expr> dims);
  Shape(std::span<const Expr> dims);        // NOLINT: a list of dims is a shape
  Shape(const std::vector<Expr>& dims);     // NOLINT
  Shape(const std::vector<int64_t>& dims);  // NOLINT

  std::span<const Expr> dims() const;
  int64_t rank() const { return static_cast<int64_t>(dims().size()); }
  // CHECKs 0 <= axis < rank.
  Expr operator[](int64_t axis) const;
  auto begin() const { return dims().begin(); }
  auto end() const { return dims().end(); }
  Expr numel() const;
  // Row-major strides: strides()[rank-1] == 1.
  std::vector<Expr> strides() const;
  // i_0*stride_0 + … for the coordinates of this shape.
  Expr flat_index(std::span<const Expr> coords) const;
  // The coordinates Expr::index(k, dims[k]).
  std::vector<Expr> coordinates() const;
  bool is_static() const;
  // The dims as numbers; an error when a dim is missing or out of bounds, negative, or the count overflows.
  Expected<std::vector<int64_t>> evaluate(const DimValues& dims) const;

  bool operator==(const Shape& o) const { return node_ == o.node_; }
  uint64_t hash() const;
  std::string str() const;  // "[2,seq]"

 private:
  const ShapeNode* node_;
};

struct TensorType {
  DType dtype = DType::f32;
  Shape shape;
  bool operator==(const TensorType&) const = default;
  // What its elements take in storage; errors as Shape::evaluate.
  Expected<int64_t> bytes(const DimValues& dims) const;
  std::string str() const;  // "f32[2,seq]"
};

}  // namespace lumen
