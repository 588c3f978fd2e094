#include "nn/mlp.h"

#include "lumen/frontend/ops.h"

namespace lumen::nn {

namespace {

LinearSettings inward(const MlpSettings& s, int64_t times) {
  return {.in = s.hidden, .out = times * s.inner, .bias = s.bias, .order = s.order};
}

}  // namespace

Mlp::Mlp(const Scope& scope, const MlpSettings& settings)
    : settings_(settings),
      down_(scope / settings.names.down,
            {.in = settings.inner, .out = settings.hidden, .bias = settings.bias, .order = settings.order}) {
  const MlpNames& names = settings.names;
  if (!names.gate_up.empty()) {
    gate_up_.emplace(scope / names.gate_up, inward(settings, 2));
    return;
  }
  if (settings.gated) gate_.emplace(scope / names.gate, inward(settings, 1));
  up_.emplace(scope / names.up, inward(settings, 1));
}

Tensor Mlp::operator()(Tensor x) const {
  if (gate_up_) {
    const Tensor both = (*gate_up_)(x);
    const Tensor gate = narrow(both, -1, 0, settings_.inner);
    const Tensor up = narrow(both, -1, settings_.inner, settings_.inner);
    return down_(activate(settings_.activation, gate) * up);
  }
  if (!gate_) return down_(activate(settings_.activation, (*up_)(x)));
  return down_(activate(settings_.activation, (*gate_)(x)) * (*up_)(x));
}

}  // namespace lumen::nn
