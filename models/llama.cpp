// Llama, and the families that differ from it in a few keys: Mistral, Qwen 2 and 3, Phi-3.
#include "models/architectures.h"
#include "models/shared_keys.h"

namespace lumen::models {

namespace {

// Windows of the layers that `layer_types` says, or of those after max_window_layers.
Expected<void> read_qwen_windows(const Config& config, CausalSettings& s) {
  if (!LUMEN_TRY(config.boolean("use_sliding_window", false)) || !config.has("sliding_window")) return {};
  const int64_t window = LUMEN_TRY(config.size("sliding_window"));
  const int64_t first = LUMEN_TRY(config.integer("max_window_layers", 28));
  std::vector<bool> sliding;
  if (config.has("layer_types")) sliding = LUMEN_TRY(read_sliding(config, s.layers.size(), 1));
  for (size_t k = 0; k < s.layers.size(); ++k) {
    if (sliding.empty() ? static_cast<int64_t>(k) >= first : sliding[k]) s.layers[k].attention.window = window;
  }
  return {};
}

Expected<void> read_window(const Config& config, CausalSettings& s) {
  const std::optional<int64_t> window = LUMEN_TRY(config.optional_token_count("sliding_window"));
  for (LayerSettings& layer : s.layers) layer.attention.window = window;
  return {};
}

}  // namespace

Expected<CausalSettings> read_llama(const Config& config) {
  CausalSettings s = LUMEN_TRY(read_shared(config));
  const bool bias = LUMEN_TRY(config.boolean("mlp_bias", false));
  for (LayerSettings& layer : s.layers) layer.mlp->bias = bias;
  return s;
}

Expected<CausalSettings> read_mistral(const Config& config) {
  CausalSettings s = LUMEN_TRY(read_shared(config));
  LUMEN_TRY(read_window(config, s));
  return s;
}

Expected<CausalSettings> read_qwen2(const Config& config) {
  CausalSettings s = LUMEN_TRY(read_shared(config, {.attention_bias = true, .output_bias_too = false}));
  LUMEN_TRY(read_qwen_windows(config, s));
  return s;
}

Expected<CausalSettings> read_qwen3(const Config& config) {
  CausalSettings s = LUMEN_TRY(read_shared(config, {.head_dim = 128}));
  for (LayerSettings& layer : s.layers) layer.attention.qk_norm = s.norm;
  LUMEN_TRY(read_qwen_windows(config, s));
  return s;
}

Expected<CausalSettings> read_phi3(const Config& config) {
  CausalSettings s = LUMEN_TRY(read_shared(config, {.eps = 1e-5}));
  for (LayerSettings& layer : s.layers) {
    layer.attention.names.fused = "qkv_proj";
    layer.mlp->names.gate_up = "gate_up_proj";
  }
  LUMEN_TRY(read_window(config, s));
  return s;
}

}  // namespace lumen::models
