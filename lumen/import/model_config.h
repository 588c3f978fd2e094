// The sizes and constants of a llama-like model: config.json of Hugging Face, or the metadata of a GGUF file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lumen/base/expected.h"
#include "lumen/import/gguf.h"
#include "lumen/import/gguf_names.h"
#include "lumen/import/weights.h"

namespace lumen {

// Llama 3's stretching of slow rotations; GGUF holds its effect, the tensor rope_freqs.weight.
struct RopeStretch {
  double factor = 1, low = 1, high = 4;
  int64_t original_context = 8192;
};

// YaRN's stretching: slow rotations are divided by the factor, fast ones are not.
struct RopeYarn {
  double factor = 1;
  int64_t original_context = 4096;
};

struct ModelConfig {
  ModelFamily family = ModelFamily::llama;
  int64_t vocabulary = 0;
  int64_t context = 0;
  int64_t width = 0;  // of the residual stream
  int64_t layers = 0;
  int64_t heads = 0;
  int64_t key_value_heads = 0;
  int64_t head = 0;    // width of one head
  int64_t hidden = 0;  // width inside the feed-forward part
  double epsilon = 1e-5;
  double rope_base = 10000;
  std::optional<double> rope_factor;  // positions are divided by it
  std::optional<RopeStretch> rope_stretch;
  std::optional<RopeYarn> rope_yarn;
  std::optional<int64_t> sliding_window;
  std::optional<double> attention_softcap, final_softcap;
  bool tied = false;  // the output matrix is the embedding
  // Of families with experts.
  int64_t experts = 0, experts_per_token = 0;
  int64_t expert_hidden = 0;  // width inside one
};

// `text` is that of a config.json; `path` is for messages. Errors for model types and rope scalings not known here, and
// for sizes that are missing or cannot be.
Expected<ModelConfig> parse_model_config(std::string_view text, std::string_view path);
Expected<ModelConfig> model_config_of(const Gguf& file);
// Of a GGUF file that may be in parts.
Expected<ModelConfig> model_config_of(const Weights& weights);

// An error when the heads do not share keys and values evenly, or have no pairs to rotate.
Expected<void> check_heads(const ModelConfig& config, std::string_view path);

// What GGUF keeps of it.
GgufMetadata metadata_of(const ModelConfig& config);
// What config.json has to say.
std::string config_json(const ModelConfig& config);
// The values of rope_freqs.weight.
std::vector<float> rope_divisors(const ModelConfig& config, const RopeStretch& stretch);

}  // namespace lumen
