// Addressing single elements: Gather and Scatter along one axis move whole slices, so elements go through positions
// in the flattened tensor.
#pragma once

#include "lumen/frontend/primitives.h"

namespace lumen {

// x as one row.
Tensor flat(Tensor x);

// Whether an index may lie outside its axis; then the position becomes -1, which is an error when run, instead of
// an element of another row.
enum class Indices : uint8_t { checked, trusted };

// For each element of `indices` (i64, of x's rank): the position in flat(x) of the element that has this index along
// `axis` and the same coordinates elsewhere.
Tensor element_positions(Tensor x, int64_t axis, Tensor indices, Indices kind);

// torch.gather on them.
Tensor take_elements(Tensor x, int64_t axis, Tensor indices, Indices kind);

}  // namespace lumen
