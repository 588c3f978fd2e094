#include "nn/linear.h"

#include "lumen/frontend/ops.h"

namespace lumen::nn {

Linear::Linear(const Scope& scope, const LinearSettings& settings)
    : weight(scope.parameter("weight", settings.order == WeightOrder::out_in ? Shape{settings.out, settings.in}
                                                                             : Shape{settings.in, settings.out})),
      order(settings.order) {
  if (settings.bias) bias = scope.parameter("bias", {settings.out});
}

Tensor Linear::operator()(Tensor x) const {
  const Tensor rows = order == WeightOrder::out_in ? weight : transpose(weight);
  return bias ? linear(x, rows, Operand(*bias)) : linear(x, rows);
}

Embedding::Embedding(const Scope& scope, int64_t count, int64_t size)
    : table(scope.stored("weight", {count, size})), weight(table.values()) {}

// Only the rows that are looked up are dequantised.
Tensor Embedding::operator()(Tensor indices) const { return table.values(embedding(indices, table.stored)); }

}  // namespace lumen::nn
