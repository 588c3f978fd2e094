// Softmax and normalisation. Statistics of f16, bf16 and narrower inputs are taken in f32.
#pragma once

#include <optional>

#include "lumen/frontend/movement.h"

namespace lumen {

Tensor softmax(const Operand& x, int64_t axis = -1);
Tensor log_softmax(const Operand& x, int64_t axis = -1);
Tensor softmin(const Operand& x, int64_t axis = -1);
// Over the trailing `rank` dims; weight and bias have their shape.
Tensor layer_norm(const Operand& x, int64_t rank = 1, const std::optional<Operand>& weight = {},
                  const std::optional<Operand>& bias = {}, double eps = 1e-5);
Tensor rms_norm(const Operand& x, const std::optional<Operand>& weight = {}, double eps = 1e-6);  // last dim
Tensor normalize(const Operand& x, double p = 2.0, int64_t axis = 1, double eps = 1e-12);
Tensor mean_norm(const Operand& x, int64_t axis = -1);                    // x - mean
Tensor std_norm(const Operand& x, int64_t axis = -1, double eps = 1e-5);  // x / sqrt(mean(x²) + eps)
// Inference form: statistics per channel (dim 1).
Tensor batch_norm(const Operand& x, const Operand& mean, const Operand& var, const std::optional<Operand>& weight = {},
                  const std::optional<Operand>& bias = {}, double eps = 1e-5);
Tensor group_norm(const Operand& x, int64_t groups, const std::optional<Operand>& weight = {},
                  const std::optional<Operand>& bias = {}, double eps = 1e-5);
Tensor instance_norm(const Operand& x, const std::optional<Operand>& weight = {},
                     const std::optional<Operand>& bias = {}, double eps = 1e-5);

}  // namespace lumen
