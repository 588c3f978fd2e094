// Models whose feed-forward blocks are mixtures of experts: Mixtral, Qwen 3 MoE, gpt-oss.
#include <fmt/format.h>

#include <algorithm>

#include "models/architectures.h"
#include "models/shared_keys.h"

namespace lumen::models {

namespace {

Expected<nn::ExpertStorage> read_storage(const Config& config, const nn::ExpertSettings& experts) {
  if (!config.has("quantization_config")) return nn::ExpertStorage::plain;
  const Config quantization = LUMEN_TRY(config.object("quantization_config"));
  const std::string method = LUMEN_TRY(quantization.string("quant_method"));
  if (method != "mxfp4") {
    return quantization.problem("quant_method", fmt::format("is \"{}\"; supported is mxfp4", method));
  }
  if (experts.hidden % 32 == 0 && experts.inner % 32 == 0) return nn::ExpertStorage::mxfp4;
  return config.problem(
      "quantization_config",
      fmt::format("needs blocks of 32: hidden_size is {}, intermediate_size {}", experts.hidden, experts.inner));
}

}  // namespace

Expected<CausalSettings> read_mixtral(const Config& config) {
  CausalSettings s = LUMEN_TRY(read_shared(config, {.eps = 1e-5}));
  const std::optional<int64_t> window = LUMEN_TRY(config.optional_token_count("sliding_window"));
  MixtureSettings m;
  m.scope = "block_sparse_moe";
  m.experts.hidden = s.hidden;
  m.experts.inner = s.layers[0].mlp->inner;
  m.experts.activation = s.layers[0].mlp->activation;
  m.experts.experts = LUMEN_TRY(config.size("num_local_experts", 8));
  m.experts.names = {.gate = "w1.weight", .up = "w3.weight", .down = "w2.weight"};
  m.routes = {LUMEN_TRY(config.size("num_experts_per_tok", 2)), true, true};
  for (LayerSettings& layer : s.layers) {
    layer.attention.window = window;
    layer.mlp.reset();
    layer.mixture = m;
  }
  return s;
}

Expected<CausalSettings> read_qwen3_moe(const Config& config) {
  CausalSettings s = LUMEN_TRY(read_shared(config));
  MixtureSettings m;
  m.scope = "mlp";
  m.experts.hidden = s.hidden;
  m.experts.inner = LUMEN_TRY(config.size("moe_intermediate_size"));
  m.experts.activation = s.layers[0].mlp->activation;
  m.experts.experts = LUMEN_TRY(config.size(config.has("num_local_experts") ? "num_local_experts" : "num_experts"));
  m.routes = {LUMEN_TRY(config.size("num_experts_per_tok")), true, LUMEN_TRY(config.boolean("norm_topk_prob", false))};
  const int64_t every = LUMEN_TRY(config.size("decoder_sparse_step", 1));
  std::vector<double> dense;
  if (config.has("mlp_only_layers")) dense = LUMEN_TRY(config.numbers("mlp_only_layers"));
  const bool windows = LUMEN_TRY(config.boolean("use_sliding_window", false));
  const std::optional<int64_t> window = LUMEN_TRY(config.optional_token_count("sliding_window"));
  for (size_t k = 0; k < s.layers.size(); ++k) {
    LayerSettings& layer = s.layers[k];
    layer.attention.qk_norm = s.norm;
    if (windows) layer.attention.window = window;
    const bool is_dense = std::find(dense.begin(), dense.end(), static_cast<double>(k)) != dense.end();
    if (is_dense || (static_cast<int64_t>(k) + 1) % every != 0) continue;
    layer.mlp.reset();
    layer.mixture = m;
  }
  return s;
}

Expected<CausalSettings> read_gpt_oss(const Config& config) {
  if (!config.has("rope_parameters") && !config.has("rope_scaling")) {
    return config.problem("rope_parameters", "is missing");
  }
  CausalSettings s = LUMEN_TRY(read_shared(config, {.attention_bias = true, .head_dim = 64, .eps = 1e-5}));
  const std::vector<bool> sliding = LUMEN_TRY(read_sliding(config, s.layers.size(), 2));
  const int64_t window = LUMEN_TRY(config.size("sliding_window", 128));
  MixtureSettings m;
  m.scope = "mlp";
  m.router = "router";
  m.router_bias = true;
  m.experts.hidden = s.hidden;
  m.experts.inner = s.layers[0].mlp->inner;
  m.experts.experts = LUMEN_TRY(config.size("num_local_experts"));
  m.experts.bias = true;
  if (!LUMEN_TRY(config.boolean("separate_gate_up", false))) {  // as they are in GGUF
    m.experts.order = nn::WeightOrder::in_out;
    m.experts.names = {.down = "down_proj", .gate_up = "gate_up_proj"};
    m.experts.interleaved = true;
  }
  m.experts.storage = LUMEN_TRY(read_storage(config, m.experts));
  m.experts.clamped =
      nn::ClampedGate{LUMEN_TRY(config.number("swiglu_limit", 7)), LUMEN_TRY(config.number("swiglu_alpha", 1.702))};
  m.routes = {LUMEN_TRY(config.size("num_experts_per_tok", 4)), false, false};
  for (size_t k = 0; k < s.layers.size(); ++k) {
    s.layers[k].attention.sinks = true;
    if (sliding[k]) s.layers[k].attention.window = window;
    s.layers[k].mlp.reset();
    s.layers[k].mixture = m;
  }
  return s;
}

}  // namespace lumen::models
