#include "models/shared_keys.h"

#include <fmt/format.h>

#include <cmath>

#include "models/rope_config.h"

namespace lumen::models {

namespace {

constexpr int64_t kWidestHeads = int64_t{1} << 20;  // of all heads together

Expected<nn::AttentionSettings> read_attention(const Config& config, const SharedKeys& keys, int64_t hidden) {
  nn::AttentionSettings a;
  a.hidden = hidden;
  a.heads = LUMEN_TRY(config.size("num_attention_heads"));
  a.kv_heads = LUMEN_TRY(config.size("num_key_value_heads", a.heads));
  if (a.heads % a.kv_heads != 0) {
    return config.problem("num_key_value_heads",
                          fmt::format("{} does not divide num_attention_heads {}", a.kv_heads, a.heads));
  }
  if (!config.has("head_dim") && keys.head_dim == 0 && hidden % a.heads != 0) {
    return config.problem("hidden_size", fmt::format("{} is no multiple of num_attention_heads {}", hidden, a.heads));
  }
  a.head_dim = LUMEN_TRY(config.size("head_dim", keys.head_dim > 0 ? keys.head_dim : hidden / a.heads));
  if (a.heads * a.head_dim > kWidestHeads) {
    return config.problem("head_dim", fmt::format("{} is too large for {} heads", a.head_dim, a.heads));
  }
  a.scale = 1 / std::sqrt(static_cast<double>(a.head_dim));
  a.qkv_bias = LUMEN_TRY(config.boolean("attention_bias", keys.attention_bias));
  a.output_bias = a.qkv_bias && keys.output_bias_too;
  return a;
}

}  // namespace

Expected<nn::Activation> read_activation(const Config& config, std::string_view key, std::string_view fallback) {
  const std::string name = LUMEN_TRY(config.string(key, fallback));
  if (const std::optional<nn::Activation> found = nn::find_activation(name)) return *found;
  return config.problem(key, fmt::format("is \"{}\"; supported are {}", name, nn::activation_names()));
}

Expected<CausalSettings> read_shared(const Config& config, const SharedKeys& keys) {
  CausalSettings s;
  s.vocabulary = LUMEN_TRY(config.token_count("vocab_size"));
  s.hidden = LUMEN_TRY(config.size("hidden_size"));
  s.max_positions = LUMEN_TRY(config.token_count("max_position_embeddings"));
  s.norm = {nn::NormKind::rms, LUMEN_TRY(config.number("rms_norm_eps", keys.eps))};
  s.tied = LUMEN_TRY(config.boolean("tie_word_embeddings", keys.tied));
  const int64_t layers = LUMEN_TRY(config.layer_count("num_hidden_layers"));
  LayerSettings layer;
  layer.attention = LUMEN_TRY(read_attention(config, keys, s.hidden));
  if (!config.has("rope_parameters") || !LUMEN_TRY(config.object("rope_parameters")).has("full_attention")) {
    layer.attention.rope = LUMEN_TRY(read_rope(config, {keys.rope_base, layer.attention.head_dim, s.max_positions}));
  }
  nn::MlpSettings mlp;
  mlp.hidden = s.hidden;
  mlp.inner = LUMEN_TRY(config.size("intermediate_size"));
  mlp.activation = LUMEN_TRY(read_activation(config, keys.activation, "silu"));
  layer.mlp = mlp;
  s.layers.assign(static_cast<size_t>(layers), layer);
  return s;
}

Expected<std::vector<bool>> read_sliding(const Config& config, size_t layers, int64_t pattern) {
  std::vector<bool> sliding;
  if (!config.has("layer_types")) {
    for (size_t k = 0; k < layers; ++k) sliding.push_back((static_cast<int64_t>(k) + 1) % pattern != 0);
    return sliding;
  }
  for (const std::string& type : LUMEN_TRY(config.strings("layer_types"))) {
    if (type != "full_attention" && type != "sliding_attention") {
      return config.problem("layer_types",
                            fmt::format("has \"{}\"; supported are full_attention, sliding_attention", type));
    }
    sliding.push_back(type == "sliding_attention");
  }
  if (sliding.size() == layers) return sliding;
  return config.problem("layer_types", fmt::format("has {} layers, num_hidden_layers is {}", sliding.size(), layers));
}

}  // namespace lumen::models
