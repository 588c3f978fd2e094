// Convolution and pooling over the trailing dims of [batch, channels, …].
#pragma once

#include <optional>
#include <vector>

#include "lumen/frontend/convolution.h"
#include "nn/scope.h"

namespace lumen::nn {

struct ConvSettings {
  int64_t in = 0;
  int64_t out = 0;
  std::vector<int64_t> kernel = {};  // one entry for each of 1, 2 or 3 spatial dims
  ConvOptions options = {};
  bool bias = true;
};

// Parameters: weight [out, in/groups, kernel…], and bias [out].
struct Conv {
  Conv(const Scope& scope, const ConvSettings& settings);
  Tensor operator()(Tensor x) const;

  ConvOptions options;
  Tensor weight;
  std::optional<Tensor> bias;
};

enum class PoolKind : uint8_t { max, average };

struct Pool {
  PoolKind kind = PoolKind::max;
  PoolOptions options = {};
  Tensor operator()(Tensor x) const;
};

// The mean of x [batch, seq, size] over the tokens that count: counts [batch, seq], 0 or 1. At least one of each
// sequence does. In f32; x's dtype stays.
Tensor mean_pool(Tensor x, Tensor counts);

}  // namespace lumen::nn
