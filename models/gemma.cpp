// Gemma 2, 3 and 4: norms before and after each block, scaled embeddings, layers with and without a window.
#include <cmath>
#include <string>

#include "models/architectures.h"
#include "models/rope_config.h"
#include "models/shared_keys.h"

namespace lumen::models {

namespace {

constexpr int64_t kGemmaHead = 256;  // head_dim where config.json does not say

Expected<CausalSettings> read_gemma(const Config& config, int64_t pattern, nn::NormKind norm) {
  CausalSettings s =
      LUMEN_TRY(read_shared(config, {.head_dim = kGemmaHead, .activation = "hidden_activation", .tied = true}));
  s.norm.kind = norm;
  s.embedding_scale = std::sqrt(static_cast<double>(s.hidden));
  s.final_cap = LUMEN_TRY(config.optional_number("final_logit_softcapping"));
  s.names.after_attention_norm = "post_attention_layernorm";
  s.names.mlp_norm = "pre_feedforward_layernorm";
  s.names.after_mlp_norm = "post_feedforward_layernorm";
  const std::vector<bool> sliding = LUMEN_TRY(read_sliding(config, s.layers.size(), pattern));
  const int64_t window = LUMEN_TRY(config.size("sliding_window", 4096));
  const nn::Activation activation = LUMEN_TRY(read_activation(config, "hidden_activation", "gelu_pytorch_tanh"));
  for (size_t k = 0; k < s.layers.size(); ++k) {
    s.layers[k].mlp->activation = activation;
    if (sliding[k]) s.layers[k].attention.window = window;
  }
  return s;
}

// Scores are divided by the root of query_pre_attn_scalar instead of that of the head's size.
Expected<void> read_scale(const Config& config, CausalSettings& s) {
  const double scalar = LUMEN_TRY(config.number("query_pre_attn_scalar", kGemmaHead));
  if (!(scalar > 0)) return config.problem("query_pre_attn_scalar", "must be positive");
  for (LayerSettings& layer : s.layers) layer.attention.scale = 1 / std::sqrt(scalar);
  return {};
}

// Layers with a window have a rope of their own.
Expected<void> read_ropes(const Config& config, CausalSettings& s, double full_base) {
  const double window_base = LUMEN_TRY(config.number("rope_local_base_freq", 10000));
  for (LayerSettings& layer : s.layers) {
    const RopeDefaults defaults{layer.attention.window ? window_base : full_base, layer.attention.head_dim,
                                s.max_positions};
    const bool typed = config.has("rope_parameters");
    if (layer.attention.window && !typed) {
      layer.attention.rope = LUMEN_TRY(read_rope_object(LUMEN_TRY(Config::parse("{}")), defaults));
    } else {
      layer.attention.rope =
          LUMEN_TRY(read_rope(config, layer.attention.window ? "sliding_attention" : "full_attention", defaults));
    }
  }
  return {};
}

// Layers without a window have other heads: `per_layer_config`, or the keys of older files.
Expected<void> read_head_sizes(const Config& config, CausalSettings& s) {
  const bool listed = config.has("per_layer_config");
  for (size_t k = 0; k < s.layers.size(); ++k) {
    nn::AttentionSettings& a = s.layers[k].attention;
    if (listed) {
      const Config layers = LUMEN_TRY(config.object("per_layer_config"));
      if (!layers.has(std::to_string(k))) continue;
      const Config layer = LUMEN_TRY(layers.object(std::to_string(k)));
      a.head_dim = LUMEN_TRY(layer.size("head_dim", a.head_dim));
      a.kv_heads = LUMEN_TRY(layer.size("num_key_value_heads", a.kv_heads));
    } else if (!a.window) {
      a.head_dim = LUMEN_TRY(config.size("global_head_dim", 512));
      if (a.keys_are_values) a.kv_heads = LUMEN_TRY(config.size("num_global_key_value_heads", a.kv_heads));
    }
    if (a.heads % a.kv_heads == 0) continue;
    return config.problem("num_attention_heads", "is no multiple of the key-value heads of every layer");
  }
  return {};
}

Expected<MixtureSettings> read_gemma4_mixture(const Config& config, const CausalSettings& s) {
  MixtureSettings m;
  m.beside_mlp = true;
  m.router = "router";
  m.experts.hidden = s.hidden;
  m.experts.inner = LUMEN_TRY(config.size("moe_intermediate_size"));
  m.experts.experts = LUMEN_TRY(config.size("num_experts"));
  m.experts.activation = s.layers[0].mlp->activation;
  m.experts.names.gate_up = "gate_up_proj";
  m.experts.names.down = "down_proj";
  m.routes = {LUMEN_TRY(config.size("top_k_experts")), true, true};
  return m;
}

// What the small models of the family have, and this builder has not.
Expected<void> refuse_unsupported(const Config& config) {
  for (const char* key : {"hidden_size_per_layer_input", "num_kv_shared_layers"}) {
    if (LUMEN_TRY(config.integer(key, 0)) != 0) return config.problem(key, "other than 0 is not supported");
  }
  if (config.has("use_bidirectional_attention")) {
    const std::string kind = LUMEN_TRY(config.string("use_bidirectional_attention"));
    if (kind != "vision") return config.problem("use_bidirectional_attention", "is not supported");
  }
  return {};
}

}  // namespace

Expected<CausalSettings> read_gemma2(const Config& config) {
  CausalSettings s = LUMEN_TRY(read_gemma(config, 2, nn::NormKind::rms_from_one));
  const std::optional<double> cap = LUMEN_TRY(config.optional_number("attn_logit_softcapping"));
  for (LayerSettings& layer : s.layers) layer.attention.soft_cap = cap;
  LUMEN_TRY(read_scale(config, s));
  return s;
}

Expected<CausalSettings> read_gemma3(const Config& config) {
  const int64_t pattern = LUMEN_TRY(config.size("sliding_window_pattern", 6));
  CausalSettings s = LUMEN_TRY(read_gemma(config, pattern, nn::NormKind::rms_from_one));
  for (LayerSettings& layer : s.layers) layer.attention.qk_norm = s.norm;
  LUMEN_TRY(read_scale(config, s));
  LUMEN_TRY(read_ropes(config, s, 1000000));
  return s;
}

Expected<CausalSettings> read_gemma4(const Config& config) {
  LUMEN_TRY(refuse_unsupported(config));
  if (!config.has("rope_parameters")) return config.problem("rope_parameters", "is missing");
  CausalSettings s = LUMEN_TRY(read_gemma(config, 6, nn::NormKind::rms));
  s.names.layer_scale = "layer_scalar";
  const bool same_values = LUMEN_TRY(config.boolean("attention_k_eq_v", false));
  for (LayerSettings& layer : s.layers) {
    nn::AttentionSettings& a = layer.attention;
    a.scale = 1;
    a.qk_norm = s.norm;
    a.value_norm = nn::NormSettings{nn::NormKind::rms_without_weight, s.norm.eps};
    a.keys_are_values = same_values && !a.window;
  }
  LUMEN_TRY(read_head_sizes(config, s));
  LUMEN_TRY(read_ropes(config, s, 1000000));
  if (LUMEN_TRY(config.boolean("enable_moe_block", false))) {
    const MixtureSettings mixture = LUMEN_TRY(read_gemma4_mixture(config, s));
    for (LayerSettings& layer : s.layers) layer.mixture = mixture;
  }
  return s;
}

}  // namespace lumen::models
