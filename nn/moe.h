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

struct ExpertSettings {
  int64_t hidden = 0;
  int64_t inner = 0;
  int64_t experts = 0;
  Activation activation = Activation::silu;
  WeightOrder order = WeightOrder::out_in;
  ExpertNames names = {};
  bool interleaved = false;  // gate_up: gate and up alternate, else the gates come first
  bool bias = false;         // parameters <name>_bias
  std::optional<ClampedGate> clamped = {};
};

// The weights of all experts are one parameter, [experts, out, in] or [experts, in, out]; a weight file may have one
// tensor for each expert instead (models/weights.h).
class Experts {
 public:
  Experts(const Scope& scope, const ExpertSettings& settings);

  // x [tokens, hidden]: the weighted sum of what the experts of each token give.
  Tensor operator()(Tensor x, const Routes& routes) const;

 private:
  struct Weights {
    Tensor weight;
    std::optional<Tensor> bias;
  };
  Weights declare(const Scope& scope, const std::string& name, int64_t in, int64_t out) const;
  // x [tokens, k, in], one row for each of a token's experts.
  Tensor apply(const Weights& weights, Tensor x, Tensor experts) const;
  Tensor gated(Tensor gate, Tensor up) const;

  ExpertSettings settings_;
  std::optional<Weights> gate_, up_, gate_up_;
  Weights down_;
};

}  // namespace lumen::nn
