// Tensors made from nothing. The graph comes first; shapes may be symbolic.
#pragma once

#include <span>

#include "lumen/frontend/operand.h"

namespace lumen {

Tensor full(Graph& g, const Shape& shape, const Operand& value, DType dtype = DType::f32);
Tensor zeros(Graph& g, const Shape& shape, DType dtype = DType::f32, SourceLocation where = SourceLocation::current());
Tensor ones(Graph& g, const Shape& shape, DType dtype = DType::f32, SourceLocation where = SourceLocation::current());
Tensor full_like(const Operand& x, const Operand& value);
Tensor zeros_like(const Operand& x);
Tensor ones_like(const Operand& x);
// A scalar, exactly.
Tensor constant(Graph& g, Scalar value);
// A small tensor given by its values, row-major; expands to selects over an iota, so keep it short (<= 1024).
Tensor constant(Graph& g, const Shape& shape, std::span<const double> values, DType dtype = DType::f32,
                SourceLocation where = SourceLocation::current());
// The value of `value`, an expression over the coordinates i0, i1, … (Expr::index(k, shape[k])), at each position.
Tensor iota(Graph& g, const Shape& shape, Expr value, DType dtype = DType::i64,
            SourceLocation where = SourceLocation::current());
// start, start+step, … below end.
Tensor arange(Graph& g, Expr end, DType dtype = DType::i64, SourceLocation where = SourceLocation::current());
Tensor arange(Graph& g, Expr start, Expr end, Expr step = 1, DType dtype = DType::i64,
              SourceLocation where = SourceLocation::current());
Tensor linspace(Graph& g, double start, double end, int64_t steps, DType dtype = DType::f32,
                SourceLocation where = SourceLocation::current());
Tensor eye(Graph& g, Expr rows, Expr columns, DType dtype = DType::f32,
           SourceLocation where = SourceLocation::current());
// Keeps the lower (upper) triangle of the last two dims, zeros elsewhere.
Tensor tril(const Operand& x, Expr diagonal = 0);
Tensor triu(const Operand& x, Expr diagonal = 0);

}  // namespace lumen
