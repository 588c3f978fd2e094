// Feed-forward blocks.
#pragma once

#include "nn/activation.h"
#include "nn/linear.h"

namespace lumen::nn {

struct MlpNames {
  std::string gate = "gate_proj", up = "up_proj", down = "down_proj";
  std::string gate_up = {};  // one projection for both, the gate first (Phi-3); empty: two
};

struct MlpSettings {
  int64_t hidden = 0;
  int64_t inner = 0;
  Activation activation = Activation::silu;
  bool gated = true;  // down(act(gate(x)) * up(x)), else down(act(up(x)))
  bool bias = false;
  WeightOrder order = WeightOrder::out_in;
  MlpNames names = {};
};

class Mlp {
 public:
  Mlp(const Scope& scope, const MlpSettings& settings);
  Tensor operator()(Tensor x) const;

 private:
  MlpSettings settings_;
  std::optional<Linear> gate_, up_, gate_up_;
  Linear down_;
};

}  // namespace lumen::nn
