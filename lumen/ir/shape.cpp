#include "lumen/ir/shape.h"

#include <fmt/format.h>

#include "lumen/base/check.h"
#include "lumen/base/hash.h"
#include "lumen/base/intern.h"

namespace lumen {

struct ShapeNode {
  std::vector<Expr> dims;
  uint64_t hash;
  bool operator==(const ShapeNode&) const = default;
};

namespace {

const ShapeNode* intern_shape(std::vector<Expr> dims) {
  static auto& interner = *new Interner<ShapeNode>;  // never destroyed: handles in statics stay valid
  Hasher hasher;
  hasher.add(dims.size());
  for (const Expr& dim : dims) hasher.add(dim.hash());
  return interner.intern({std::move(dims), hasher.value()});
}

}  // namespace

Shape::Shape() {
  static const ShapeNode* const scalar = intern_shape({});
  node_ = scalar;
}
Shape::Shape(std::initializer_list<Expr> dims) : node_(intern_shape(dims)) {}
Shape::Shape(std::span<const Expr> dims) : node_(intern_shape({dims.begin(), dims.end()})) {}
Shape::Shape(const std::vector<Expr>& dims) : node_(intern_shape(dims)) {}
Shape::Shape(const std::vector<int64_t>& dims) : node_(intern_shape({dims.begin(), dims.end()})) {}

std::span<const Expr> Shape::dims() const { return node_->dims; }

Expr Shape::operator[](int64_t axis) const {
  CHECK(axis >= 0 && axis < rank(), fmt::format("axis {} of {}", axis, str()));
  return node_->dims[static_cast<size_t>(axis)];
}

Expr Shape::numel() const {
  Expr count = 1;
  for (const Expr& dim : dims()) count *= dim;
  return count;
}

std::vector<Expr> Shape::strides() const {
  std::vector<Expr> strides(dims().size(), Expr(1));
  for (size_t k = strides.size(); k-- > 1;) strides[k - 1] = strides[k] * dims()[k];
  return strides;
}

Expr Shape::flat_index(std::span<const Expr> coords) const {
  CHECK(coords.size() == dims().size(), fmt::format("{} coordinates for {}", coords.size(), str()));
  Expr flat = 0;
  Expr stride = 1;
  for (size_t k = coords.size(); k-- > 0; stride *= dims()[k]) flat += coords[k] * stride;
  return flat;
}

std::vector<Expr> Shape::coordinates() const {
  std::vector<Expr> coords;
  for (const Expr& dim : dims()) coords.push_back(Expr::index(static_cast<int>(coords.size()), dim));
  return coords;
}

bool Shape::is_static() const {
  for (const Expr& dim : dims()) {
    if (!dim.is_constant()) return false;
  }
  return true;
}

Expected<std::vector<int64_t>> Shape::evaluate(const DimValues& values) const {
  std::vector<int64_t> result;
  bool empty = false;
  for (const Expr& dim : dims()) {
    const int64_t value = LUMEN_TRY(lumen::evaluate(dim, values));
    if (value < 0) return error(fmt::format("dim {} of {} is {}, which is negative", result.size(), str(), value));
    empty = empty || value == 0;
    result.push_back(value);
  }
  int64_t count = 1;
  for (int64_t value : result) {
    if (!empty && __builtin_mul_overflow(count, value, &count)) {
      return error(fmt::format("the element count of {} does not fit in 64 bits", str()));
    }
  }
  return result;
}

uint64_t Shape::hash() const { return node_->hash; }

std::string Shape::str() const {
  std::string text = "[";
  for (const Expr& dim : dims()) {
    if (text.size() > 1) text += ',';
    text += dim.str();
  }
  return text + "]";
}

std::string TensorType::str() const { return std::string(name(dtype)) + shape.str(); }

Expected<int64_t> TensorType::bytes(const DimValues& dims) const {
  int64_t numel = 1;
  for (const int64_t dim : LUMEN_TRY(shape.evaluate(dims))) numel *= dim;
  return storage_bytes(dtype, numel);
}

}  // namespace lumen
