// GPT-2: learned positions, layer norms, biases everywhere, weights the other way round.
#include <fmt/format.h>

#include <cmath>

#include "models/architectures.h"
#include "models/shared_keys.h"

namespace lumen::models {

namespace {

CausalNames gpt2_names() {
  CausalNames names;
  names.root = "transformer";
  names.embedding = "wte";
  names.positions = "wpe";
  names.layers = "h";
  names.attention = "attn";
  names.norm = "ln_f";
  names.attention_norm = "ln_1";
  names.mlp_norm = "ln_2";
  return names;
}

}  // namespace

Expected<CausalSettings> read_gpt2(const Config& config) {
  CausalSettings s;
  s.names = gpt2_names();
  s.vocabulary = LUMEN_TRY(config.token_count("vocab_size"));
  s.hidden = LUMEN_TRY(config.size("n_embd"));
  s.max_positions = LUMEN_TRY(config.token_count("n_positions"));
  s.norm = {nn::NormKind::layer, LUMEN_TRY(config.number("layer_norm_epsilon", 1e-5))};
  s.tied = LUMEN_TRY(config.boolean("tie_word_embeddings", true));
  if (LUMEN_TRY(config.boolean("scale_attn_by_inverse_layer_idx", false))) {
    return config.problem("scale_attn_by_inverse_layer_idx", "is not supported");
  }
  LayerSettings layer;
  nn::AttentionSettings& a = layer.attention;
  a.hidden = s.hidden;
  a.heads = a.kv_heads = LUMEN_TRY(config.size("n_head"));
  if (s.hidden % a.heads != 0) {
    return config.problem("n_embd", fmt::format("{} is no multiple of n_head {}", s.hidden, a.heads));
  }
  a.head_dim = s.hidden / a.heads;
  a.scale = LUMEN_TRY(config.boolean("scale_attn_weights", true)) ? 1 / std::sqrt(static_cast<double>(a.head_dim)) : 1;
  a.qkv_bias = a.output_bias = true;
  a.order = nn::WeightOrder::in_out;
  a.names.fused = "c_attn";
  a.names.output = "c_proj";
  nn::MlpSettings mlp{.hidden = s.hidden, .gated = false, .bias = true, .order = nn::WeightOrder::in_out};
  mlp.inner = LUMEN_TRY(config.size("n_inner", 4 * s.hidden));
  mlp.activation = LUMEN_TRY(read_activation(config, "activation_function", "gelu_new"));
  mlp.names.up = "c_fc";
  mlp.names.down = "c_proj";
  layer.mlp = mlp;
  s.layers.assign(static_cast<size_t>(LUMEN_TRY(config.layer_count("n_layer"))), layer);
  return s;
}

}  // namespace lumen::models
