#include "nn/moe.h"

#include "lumen/frontend/ops.h"

namespace lumen::nn {

namespace {

constexpr int64_t kBlock = 32;  // elements that share a scale in MXFP4

std::string bias_name(const std::string& weight) {
  constexpr std::string_view kWeight = ".weight";
  if (!weight.ends_with(kWeight)) return weight + "_bias";
  return weight.substr(0, weight.size() - kWeight.size()) + ".bias";
}

}  // namespace

Routes choose_experts(Tensor logits, const RouteSettings& settings) {
  const Tensor wide = cast(logits, f32);
  const ValuesAndIndices best = topk(settings.softmax_first ? softmax(wide, -1) : wide, settings.per_token, -1);
  Tensor weights = settings.softmax_first ? best.values : softmax(best.values, -1);
  if (settings.normalise) weights = weights / sum(weights, {-1}, true);
  return {best.indices, weights};
}

Experts::Experts(const Scope& scope, const ExpertSettings& settings)
    : settings_(settings), down_(declare(scope, settings.names.down, settings.inner, settings.hidden)) {
  const ExpertNames& names = settings.names;
  if (!names.gate_up.empty()) {
    gate_up_ = declare(scope, names.gate_up, settings.hidden, 2 * settings.inner);
    return;
  }
  gate_ = declare(scope, names.gate, settings.hidden, settings.inner);
  up_ = declare(scope, names.up, settings.hidden, settings.inner);
}

Experts::Weights Experts::declare(const Scope& scope, const std::string& name, int64_t in, int64_t out) const {
  const int64_t experts = settings_.experts;
  Weights weights;
  if (settings_.storage == ExpertStorage::mxfp4) {
    weights.weight = scope.parameter(name + "_blocks", {experts, out, in / kBlock, kBlock / 2}, u8);
    weights.scales = scope.parameter(name + "_scales", {experts, out, in / kBlock}, u8);
  } else {
    const bool rows = settings_.order == WeightOrder::out_in;
    weights.weight = scope.parameter(name, {experts, rows ? out : in, rows ? in : out});
  }
  if (settings_.bias) weights.bias = scope.parameter(bias_name(name), {experts, out});
  return weights;
}

Tensor Experts::chosen(const Weights& weights, Tensor experts, DType dtype) const {
  const Tensor taken = index_select(weights.weight, 0, experts);
  if (!weights.scales) return taken;
  const Tensor elements = cast(bitcast(taken, f4e2m1), f32);  // [tokens, k, out, in/32, 32]
  const Tensor scales = cast(bitcast(index_select(*weights.scales, 0, experts), f8ue8m0), f32);
  const Tensor values = elements * unsqueeze(scales, -1);
  return cast(merge_dims(values, 3), dtype);
}

Tensor Experts::apply(const Weights& weights, Tensor x, Tensor experts) const {
  const bool rows = weights.scales || settings_.order == WeightOrder::out_in;
  const Tensor y = einsum(rows ? "tki,tkoi->tko" : "tki,tkio->tko", {x, chosen(weights, experts, x.dtype())});
  return weights.bias ? y + index_select(*weights.bias, 0, experts) : y;
}

Tensor Experts::gated(Tensor gate, Tensor up) const {
  if (!settings_.clamped) return activate(settings_.activation, gate) * up;
  const auto [limit, alpha] = *settings_.clamped;
  const Tensor below = minimum(gate, limit);
  return (clip(up, Operand(-limit), Operand(limit)) + 1.0) * (below * sigmoid(below * alpha));
}

Tensor Experts::operator()(Tensor x, const Routes& routes) const {
  const Tensor rows = expand_dim(x, 1, routes.experts.dim(1));  // [tokens, k, hidden]
  Tensor gate, up;
  if (gate_up_) {
    const Tensor both = apply(*gate_up_, rows, routes.experts);
    const int64_t n = settings_.inner;
    gate = settings_.interleaved ? slice(both, -1, 0, {}, 2) : narrow(both, -1, 0, n);
    up = settings_.interleaved ? slice(both, -1, 1, {}, 2) : narrow(both, -1, n, n);
  } else {
    gate = apply(*gate_, rows, routes.experts);
    up = apply(*up_, rows, routes.experts);
  }
  const Tensor each = apply(down_, gated(gate, up), routes.experts);
  const Tensor weighted = cast(each, f32) * unsqueeze(routes.weights, -1);
  return cast(sum(weighted, {1}), x.dtype());
}

}  // namespace lumen::nn
