// Products of tensors. f16, bf16 and narrower operands multiply and accumulate in f32.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "lumen/frontend/operand.h"

namespace lumen {

Tensor matmul(const Operand& a, const Operand& b);  // every rank, as torch.matmul
Tensor dot(const Operand& a, const Operand& b);     // 1-D with 1-D
Tensor outer(const Operand& a, const Operand& b);
Tensor linear(const Operand& x, const Operand& weight, const std::optional<Operand>& bias = {});  // x @ weightᵀ + bias
// "bij,bjk->bik"; implicit output, repeated letters (diagonals) and "..." as in torch.einsum.
Tensor einsum(std::string_view equation, const std::vector<Tensor>& xs,
              SourceLocation where = SourceLocation::current());

}  // namespace lumen
