#include "lumen/frontend/linear.h"

#include <fmt/format.h>

#include "lumen/frontend/operators.h"
#include "lumen/frontend/primitives.h"

namespace lumen {

namespace {

struct Factors {
  Tensor a, b;
  DType dtype;  // of the result
};

// Both in the dtype that products are taken in.
Factors factors(const Operand& a, const Operand& b) {
  const Operand operands[] = {a.tensor(), b.tensor()};
  const std::vector<Tensor> both = promote_only(operands);
  const DType dtype = both[0].dtype();
  if (is_bool(dtype)) fail("not defined for bool");
  return {cast_to(both[0], wide(dtype)), cast_to(both[1], wide(dtype)), dtype};
}

// [batch…, rows, K] and [batch…, columns, K] as one shape [batch…, rows, columns, K], multiplied and summed over K.
// A vector has no rows or columns.
Tensor product(Tensor a, Tensor b) {
  const bool has_rows = a.rank() > 1;
  const bool has_columns = b.rank() > 1;
  if (has_columns && has_rows) a = inserted(a, a.rank() - 1);
  if (has_columns && has_rows) b = inserted(b, b.rank() - 2);
  const Shape shapes[] = {a.shape(), b.shape()};
  const Shape to = broadcast_shapes(shapes);
  return sum_reduce(mul(broadcast(a, to), broadcast(b, to)), to.rank() - 1);
}

Tensor matmul_of(Tensor a, Tensor b) {
  if (a.rank() == 0 || b.rank() == 0) {
    fail(fmt::format("needs at least 1 dim on both sides: {} @ {}", a.type().str(), b.type().str()));
  }
  const Expr left = a.shape()[a.rank() - 1];
  const Expr right = b.shape()[b.rank() > 1 ? b.rank() - 2 : 0];
  if (left != right) {
    fail(fmt::format("inner dims {} and {} differ: {} @ {}", left.str(), right.str(), a.type().str(), b.type().str()));
  }
  if (b.rank() == 1) return product(a, b);
  std::vector<int64_t> order;
  for (int64_t k = 0; k < b.rank(); ++k) order.push_back(k);
  std::swap(order[order.size() - 1], order[order.size() - 2]);
  return product(a, permuted(b, order));
}

}  // namespace

Tensor matmul(const Operand& a, const Operand& b) {
  const Call call("matmul", a.where());
  const Factors f = factors(a, b);
  return cast_to(matmul_of(f.a, f.b), f.dtype);
}

Tensor dot(const Operand& a, const Operand& b) {
  const Call call("dot", a.where());
  if (a.tensor().rank() != 1 || b.tensor().rank() != 1) {
    fail(fmt::format("needs two vectors, got {} and {}", a.tensor().type().str(), b.tensor().type().str()));
  }
  return matmul(a, b);
}

Tensor outer(const Operand& a, const Operand& b) {
  const Call call("outer", a.where());
  const Tensor x = a.tensor();
  const Tensor y = b.tensor();
  if (x.rank() != 1 || y.rank() != 1) {
    fail(fmt::format("needs two vectors, got {} and {}", x.type().str(), y.type().str()));
  }
  return inserted(x, 1) * y;
}

Tensor linear(const Operand& x, const Operand& weight, const std::optional<Operand>& bias) {
  const Call call("linear", x.where());
  const Factors f = factors(x, weight);
  if (f.a.rank() == 0 || f.b.rank() < 1 || f.b.rank() > 2 || f.a.dim(-1) != f.b.dim(-1)) {
    fail(fmt::format("weight {} does not fit the last dim of {}", weight.tensor().type().str(),
                     x.tensor().type().str()));
  }
  const Tensor result = product(f.a, f.b);
  if (!bias) return cast_to(result, f.dtype);
  return cast_to(result + Operand(cast_to(bias->tensor(), result.dtype())), f.dtype);
}

}  // namespace lumen
