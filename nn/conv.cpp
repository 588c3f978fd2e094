#include "nn/conv.h"

#include "lumen/base/check.h"
#include "lumen/frontend/ops.h"

namespace lumen::nn {

namespace {

Shape weight_shape(const ConvSettings& settings) {
  std::vector<int64_t> dims{settings.out, settings.in / settings.options.groups};
  dims.insert(dims.end(), settings.kernel.begin(), settings.kernel.end());
  return dims;
}

}  // namespace

Conv::Conv(const Scope& scope, const ConvSettings& settings)
    : options(settings.options), weight(scope.parameter("weight", weight_shape(settings))) {
  CHECK(!settings.kernel.empty() && settings.kernel.size() <= 3, "a convolution has 1, 2 or 3 spatial dims");
  if (settings.bias) bias = scope.parameter("bias", {settings.out});
}

Tensor Conv::operator()(Tensor x) const {
  std::optional<Operand> added;
  if (bias) added = *bias;
  if (weight.rank() == 3) return conv1d(x, weight, added, options);
  if (weight.rank() == 4) return conv2d(x, weight, added, options);
  return conv3d(x, weight, added, options);
}

Tensor Pool::operator()(Tensor x) const { return kind == PoolKind::max ? max_pool(x, options) : avg_pool(x, options); }

Tensor mean_pool(Tensor x, Tensor counts) {
  const Tensor weights = unsqueeze(cast(counts, f32), -1);
  const Tensor total = sum(cast(x, f32) * weights, {1});
  return cast(total / clip(Operand(sum(weights, {1})), Operand(1e-9), {}), x.dtype());
}

}  // namespace lumen::nn
