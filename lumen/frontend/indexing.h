// Reading and writing by index. Indices are integer tensors; one outside its axis is an error when run.
#pragma once

#include "lumen/frontend/movement.h"
#include "lumen/hlir/indexing.h"

namespace lumen {

// Flat forms: element k of the result is x (read as one row) at indices[k]; scatter writes there.
Tensor gather(const Operand& x, const Operand& indices);
Tensor scatter(const Operand& x, const Operand& indices, const Operand& source,
               hlir::ScatterMode mode = hlir::ScatterMode::set);
// Whole slices along an axis.
Tensor index_select(const Operand& x, int64_t axis, const Operand& indices);  // indices of any rank
Tensor index_add(const Operand& x, int64_t axis, const Operand& indices, const Operand& source);
Tensor index_copy(const Operand& x, int64_t axis, const Operand& indices, const Operand& source);
Tensor take_along_axis(const Operand& x, const Operand& indices, int64_t axis);  // gather_elements by NumPy's name
// torch.gather and torch.scatter(_add, _reduce).
Tensor gather_elements(const Operand& x, int64_t axis, const Operand& indices);
Tensor scatter_elements(const Operand& x, int64_t axis, const Operand& indices, const Operand& source,
                        hlir::ScatterMode mode = hlir::ScatterMode::set);
// ONNX GatherND / ScatterND: the last dim of `indices` addresses the leading dims of x.
Tensor gather_nd(const Operand& x, const Operand& indices);
Tensor scatter_nd(const Operand& x, const Operand& indices, const Operand& updates,
                  hlir::ScatterMode mode = hlir::ScatterMode::set);
Tensor embedding(const Operand& indices, const Operand& weight);
Tensor one_hot(const Operand& indices, Expr classes, DType dtype = DType::i64);
// Writes `source` over the slice [start, start + size of source's axis) of x.
Tensor slice_scatter(const Operand& x, const Operand& source, int64_t axis, Expr start);

}  // namespace lumen
