// The keys that config.json of Llama and most models after it share.
#pragma once

#include "models/causal.h"
#include "models/config.h"

namespace lumen::models {

// Where keys are not given, or differ in name.
struct SharedKeys {
  bool attention_bias = false;  // of the queries, keys and values
  bool output_bias_too = true;  // attention_bias is that of the output, too
  int64_t head_dim = 0;         // 0: hidden_size / num_attention_heads
  std::string_view activation = "hidden_act";
  bool tied = false;
  double rope_base = 10000;
  double eps = 1e-6;
};

// A model whose layers are all the same, of Llama's names: attention with rope, a gated feed-forward block, RMS norms.
Expected<CausalSettings> read_shared(const Config& config, const SharedKeys& keys = {});

Expected<nn::Activation> read_activation(const Config& config, std::string_view key, std::string_view fallback);

// `layer_types`: "full_attention" or "sliding_attention" for each layer. Without it every `pattern`-th layer is full;
// all of them for 1.
Expected<std::vector<bool>> read_sliding(const Config& config, size_t layers, int64_t pattern);

}  // namespace lumen::models
