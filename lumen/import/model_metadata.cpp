// A model's sizes and constants as the metadata of GGUF.
#include <fmt/format.h>

#include "lumen/import/model_config.h"

namespace lumen {

namespace {

class Keys {
 public:
  explicit Keys(ModelFamily family) : prefix_(name(family)) {}
  std::string operator()(std::string_view key) const { return fmt::format("{}.{}", prefix_, key); }

 private:
  std::string prefix_;
};

Expected<int64_t> size_of(const Gguf& file, const std::string& key) {
  const int64_t value = LUMEN_TRY(file.integer(key));
  if (value > 0 && value <= int64_t{1} << 32) return value;
  return error(fmt::format("{}: metadata \"{}\" is {}, a size is wanted", file.path(), key, value));
}

Expected<double> number_or(const Gguf& file, const std::string& key, double otherwise) {
  return file.has(key) ? file.number(key) : Expected<double>(otherwise);
}

Expected<std::optional<double>> optional_number(const Gguf& file, const std::string& key) {
  if (!file.has(key)) return std::optional<double>();
  return std::optional(LUMEN_TRY(file.number(key)));
}

// Files of before GGUF had this key say it with the length of the list of tokens.
Expected<int64_t> vocabulary_size(const Gguf& file, const std::string& key) {
  if (file.has(key)) return size_of(file, key);
  return static_cast<int64_t>(LUMEN_TRY(file.strings("tokenizer.ggml.tokens")).size());
}

// Mixtral is a llama with experts.
Expected<void> read_experts(const Gguf& file, const Keys& key, ModelConfig& config) {
  const int64_t count = file.has(key("expert_count")) ? LUMEN_TRY(file.integer(key("expert_count"))) : 0;
  if (config.family == ModelFamily::llama && count == 0) return {};
  if (config.family == ModelFamily::llama) config.family = ModelFamily::mixtral;
  if (!has_experts(config.family)) return {};
  config.experts = LUMEN_TRY(size_of(file, key("expert_count")));
  config.experts_per_token = LUMEN_TRY(size_of(file, key("expert_used_count")));
  const std::string hidden = key("expert_feed_forward_length");
  if (file.has(hidden)) config.expert_hidden = LUMEN_TRY(size_of(file, hidden));
  if (config.experts_per_token <= config.experts) return {};
  return error(fmt::format("{}: {} experts of {} for each token cannot be", file.path(), config.experts_per_token,
                           config.experts));
}

Expected<void> read_gguf_rope_scaling(const Gguf& file, const Keys& key, ModelConfig& config) {
  const std::string factor = key("rope.scaling.factor"), kind = key("rope.scaling.type");
  if (!file.has(factor)) return {};
  const std::string type = file.has(kind) ? LUMEN_TRY(file.string(kind)) : "linear";
  if (type == "none") return {};
  const double by = LUMEN_TRY(file.number(factor));
  if (type == "linear") {
    config.rope_factor = by;
    return {};
  }
  if (type != "yarn") return error(fmt::format("{}: rope scaling \"{}\" is not known", file.path(), type));
  const int64_t context = LUMEN_TRY(size_of(file, key("rope.scaling.original_context_length")));
  config.rope_yarn = RopeYarn{by, context};
  return {};
}

}  // namespace

Expected<ModelConfig> model_config_of(const Weights& weights) {
  ModelConfig config = LUMEN_TRY(model_config_of(*weights.gguf()));
  config.tied = !weights.entries().contains("output.weight");
  return config;
}

Expected<ModelConfig> model_config_of(const Gguf& file) {
  const std::string architecture = LUMEN_TRY(file.string("general.architecture"));
  const std::optional<ModelFamily> family = parse_family(architecture);
  if (!family) {
    return error(
        fmt::format("{}: architecture \"{}\" is not known; llama, qwen2, qwen3, qwen3moe, gemma, gemma2, gemma3 and "
                    "gpt-oss are",
                    file.path(), architecture));
  }
  const Keys key(*family);
  ModelConfig config;
  config.family = *family;
  LUMEN_TRY(read_experts(file, key, config));
  config.vocabulary = LUMEN_TRY(vocabulary_size(file, key("vocab_size")));
  config.context = LUMEN_TRY(size_of(file, key("context_length")));
  config.width = LUMEN_TRY(size_of(file, key("embedding_length")));
  config.layers = LUMEN_TRY(size_of(file, key("block_count")));
  config.heads = LUMEN_TRY(size_of(file, key("attention.head_count")));
  const std::string grouped = key("attention.head_count_kv"), head = key("attention.key_length");
  config.key_value_heads = file.has(grouped) ? LUMEN_TRY(size_of(file, grouped)) : config.heads;
  config.head = file.has(head) ? LUMEN_TRY(size_of(file, head)) : config.width / config.heads;
  const std::string hidden = key("feed_forward_length");
  config.hidden =
      file.has(hidden) || config.expert_hidden == 0 ? LUMEN_TRY(size_of(file, hidden)) : config.expert_hidden;
  if (config.expert_hidden == 0) config.expert_hidden = config.hidden;
  config.epsilon = LUMEN_TRY(file.number(key("attention.layer_norm_rms_epsilon")));
  config.rope_base = LUMEN_TRY(number_or(file, key("rope.freq_base"), 10000));
  LUMEN_TRY(read_gguf_rope_scaling(file, key, config));
  if (file.has(key("attention.sliding_window"))) {
    config.sliding_window = LUMEN_TRY(size_of(file, key("attention.sliding_window")));
  }
  config.attention_softcap = LUMEN_TRY(optional_number(file, key("attn_logit_softcapping")));
  config.final_softcap = LUMEN_TRY(optional_number(file, key("final_logit_softcapping")));
  config.tied = !file.entries().contains("output.weight");
  LUMEN_TRY(check_heads(config, file.path()));
  return config;
}

GgufMetadata metadata_of(const ModelConfig& config) {
  const Keys key(config.family);
  GgufMetadata result{{"general.architecture", GgufValue::of_string(std::string(name(config.family)))},
                      {key("vocab_size"), GgufValue::of_u32(config.vocabulary)},
                      {key("context_length"), GgufValue::of_u32(config.context)},
                      {key("embedding_length"), GgufValue::of_u32(config.width)},
                      {key("block_count"), GgufValue::of_u32(config.layers)},
                      {key("feed_forward_length"), GgufValue::of_u32(config.hidden)},
                      {key("attention.head_count"), GgufValue::of_u32(config.heads)},
                      {key("attention.head_count_kv"), GgufValue::of_u32(config.key_value_heads)},
                      {key("attention.key_length"), GgufValue::of_u32(config.head)},
                      {key("attention.value_length"), GgufValue::of_u32(config.head)},
                      {key("attention.layer_norm_rms_epsilon"), GgufValue::of_f32(config.epsilon)},
                      {key("rope.dimension_count"), GgufValue::of_u32(config.head)},
                      {key("rope.freq_base"), GgufValue::of_f32(config.rope_base)}};
  if (config.rope_factor) {
    result[key("rope.scaling.type")] = GgufValue::of_string("linear");
    result[key("rope.scaling.factor")] = GgufValue::of_f32(*config.rope_factor);
  }
  if (config.rope_yarn) {
    result[key("rope.scaling.type")] = GgufValue::of_string("yarn");
    result[key("rope.scaling.factor")] = GgufValue::of_f32(config.rope_yarn->factor);
    result[key("rope.scaling.original_context_length")] = GgufValue::of_u32(config.rope_yarn->original_context);
  }
  if (has_experts(config.family)) {
    result[key("expert_count")] = GgufValue::of_u32(config.experts);
    result[key("expert_used_count")] = GgufValue::of_u32(config.experts_per_token);
    result[key("expert_feed_forward_length")] = GgufValue::of_u32(config.expert_hidden);
  }
  if (config.sliding_window) result[key("attention.sliding_window")] = GgufValue::of_u32(*config.sliding_window);
  if (config.attention_softcap) result[key("attn_logit_softcapping")] = GgufValue::of_f32(*config.attention_softcap);
  if (config.final_softcap) result[key("final_logit_softcapping")] = GgufValue::of_f32(*config.final_softcap);
  return result;
}

}  // namespace lumen
