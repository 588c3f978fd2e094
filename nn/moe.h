// Mixtures of experts: each token goes through a few of many feed-forward blocks.
#pragma once

#include <optional>

#include "nn/activation.h"
#include "nn/linear.h"

namespace lumen::nn {

struct Routes {
  Tensor experts;  // i64 [tokens, k]
  Tensor weights;  // f32 [tokens, k]
};

struct RouteSettings {
  int64_t per_token = 1;
  bool softmax_first = true;  // over all experts, else over the chosen ones
  bool normalise = false;     // the weights of a token sum to 1
};

// logits [tokens, experts]; in f32.
Routes choose_experts(Tensor logits, const RouteSettings& settings);

struct ExpertNames {
  std::string gate = "gate_proj.weight", up = "up_proj.weight", down = "down_proj.weight";
  std::string gate_up = {};  // both in one; empty: two
};

// What gpt-oss does in the place of act(gate) * up: both are clamped, and (up + 1) * gate * sigmoid(alpha * gate).
struct ClampedGate {
  double limit = 7;
  double alpha = 1.702;
};

enum class ExpertStorage : uint8_t {
  plain,  // floats, [experts, out, in] or [experts, in, out]
  // MXFP4: <name>_blocks u8 [experts, out, in/32, 16], two f4e2m1 in a byte, the first in the low half; <name>_scales
  // u8 [experts, out, in/32], an f8ue8m0 for each 32 of them.
  mxfp4,
};

struct ExpertSettings {
  int64_t hidden = 0;
  int64_t inner = 0;
  int64_t experts = 0;
  Activation activation = Activation::silu;
  ExpertStorage storage = ExpertStorage::plain;
  WeightOrder order = WeightOrder::out_in;  // of plain weights
  ExpertNames names = {};
  bool interleaved = false;  // gate_up: gate and up alternate, else the gates come first
  bool bias = false;         // parameters <name>_bias; where a name is <name>.weight, <name>.bias
  std::optional<ClampedGate> clamped = {};
};

// The weights of all experts are one parameter; a weight file may have one tensor for each expert instead
// (models/weights.h).
class Experts {
 public:
  Experts(const Scope& scope, const ExpertSettings& settings);

  // x [tokens, hidden]: the weighted sum of what the experts of each token give.
  Tensor operator()(Tensor x, const Routes& routes) const;

 private:
  struct Weights {
    Tensor weight;                 // or the blocks
    std::optional<Tensor> scales;  // of the blocks
    std::optional<Tensor> bias;
  };
  Weights declare(const Scope& scope, const std::string& name, int64_t in, int64_t out) const;
  // [tokens, k, …] in the weight's order, as floats of `dtype`.
  Tensor chosen(const Weights& weights, Tensor experts, DType dtype) const;
  // x [tokens, k, in], one row for each of a token's experts.
  Tensor apply(const Weights& weights, Tensor x, Tensor experts) const;
  Tensor gated(Tensor gate, Tensor up) const;

  ExpertSettings settings_;
  std::optional<Weights> gate_, up_, gate_up_;
  Weights down_;
};

}  // namespace lumen::nn
