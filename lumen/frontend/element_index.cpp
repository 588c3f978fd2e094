#include "lumen/frontend/element_index.h"

#include "lumen/frontend/operators.h"

namespace lumen {

Tensor flat(Tensor x) { return reshaped(x, {x.shape().numel()}); }

Tensor element_positions(Tensor x, int64_t axis, Tensor indices, Indices kind) {
  if (x.rank() == 1) return indices;
  const std::vector<Expr> strides = x.shape().strides();
  const std::vector<Expr> coords = indices.shape().coordinates();
  Expr elsewhere = 0;
  for (size_t k = 0; k < coords.size(); ++k) {
    if (static_cast<int64_t>(k) != axis) elsewhere += coords[k] * strides[k];
  }
  const Tensor base = iota_of(*x.graph, indices.shape(), elsewhere, DType::i64);
  const Tensor positions = indices * strides[static_cast<size_t>(axis)] + base;
  if (kind == Indices::trusted) return positions;
  return where(logical_and(ge(indices, 0), lt(indices, x.shape()[axis])), positions, -1);
}

Tensor take_elements(Tensor x, int64_t axis, Tensor indices, Indices kind) {
  return gather_of(flat(x), element_positions(x, axis, indices, kind), 0);
}

}  // namespace lumen
