#include "nn/norm.h"

#include "lumen/frontend/ops.h"

namespace lumen::nn {

Norm::Norm(const Scope& scope, int64_t size, const NormSettings& wanted) : settings(wanted) {
  if (settings.kind != NormKind::rms_without_weight) weight = scope.parameter("weight", {size});
  if (settings.kind == NormKind::layer) bias = scope.parameter("bias", {size});
}

Tensor Norm::operator()(Tensor x) const {
  switch (settings.kind) {
    case NormKind::rms:
      return rms_norm(x, Operand(*weight), settings.eps);
    case NormKind::rms_from_one:
      return cast(rms_norm(cast(x, f32), Operand(cast(*weight, f32) + 1.0), settings.eps), x.dtype());
    case NormKind::rms_without_weight:
      return rms_norm(x, {}, settings.eps);
    case NormKind::layer:
      return layer_norm(x, 1, Operand(*weight), Operand(*bias), settings.eps);
  }
  return x;
}

}  // namespace lumen::nn
