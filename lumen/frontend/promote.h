// Which dtype operands of different dtypes meet in. There are no implicit casts below the frontend.
//
//   1. Tensors promote among themselves as in PyTorch: bool < unsigned/signed integers < floats; within a kind the
//      wider wins; a signed and an unsigned integer meet in the next wider signed one (u64 with any signed: i64);
//      f16 with bf16 is f32; an 8-, 6- or 4-bit float with any other float is that other float (two different
//      narrow ones: f32).
//   2. A number only lifts the kind: int + 1 is int, int + 0.5 is f32, f16 + 0.5 is f16, bool + 1 is i64. So does a 0-D
//      tensor beside tensors with dims, with its own dtype: i32[3] + f64[] is f64, f16[3] + f64[] is f16.
//   3. Functions that need floats (exp, sqrt, mean, /, …) take integers and bools as f32.
//   4. Functions made of several primitives compute f16, bf16 and narrower floats in f32 and round once at the end.
//      There, and in + - * /, a number beside narrow floats is taken as it is, not rounded to them first.
#pragma once

#include <span>
#include <vector>

#include "lumen/frontend/operand.h"

namespace lumen {

DType promote(DType a, DType b);
// Every operand as a tensor of the common dtype and shape. At least one operand is a tensor.
std::vector<Tensor> promote_and_broadcast(std::span<const Operand> operands);
std::vector<Tensor> promote_only(std::span<const Operand> operands);
// The dtype they meet in.
DType common_dtype(std::span<const Operand> operands);

// What functions that need floats give: the common dtype, or f32 for integers and bools.
DType float_dtype(std::span<const Operand> operands);
// Every operand as a tensor of that dtype and the common shape, held in the wider dtype `in`; numbers are `in` at once.
std::vector<Tensor> promote_to_floats(std::span<const Operand> operands, DType in);

// The NumPy broadcast of the shapes; throws Error naming both when they do not fit.
Shape broadcast_shapes(std::span<const Shape> shapes);

}  // namespace lumen
