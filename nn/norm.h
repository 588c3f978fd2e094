// Normalisation over the last dim. Statistics are taken in f32, and the result is rounded once.
#pragma once

#include <optional>

#include "nn/scope.h"

namespace lumen::nn {

enum class NormKind : uint8_t {
  rms,           // x / rms(x) * weight
  rms_from_one,  // x / rms(x) * (1 + weight): Gemma 2 and 3
  rms_without_weight,
  layer,  // (x - mean) / deviation * weight + bias
};

struct NormSettings {
  NormKind kind = NormKind::rms;
  double eps = 1e-6;
};

// Parameters: weight [size], and bias [size] for `layer`.
struct Norm {
  Norm(const Scope& scope, int64_t size, const NormSettings& settings);
  Tensor operator()(Tensor x) const;

  NormSettings settings;
  std::optional<Tensor> weight, bias;
};

}  // namespace lumen::nn
