#include "lumen/import/model_config.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <numbers>

#include "lumen/import/json_object.h"

namespace lumen {

namespace {

using Json = nlohmann::json;

constexpr int64_t kMostOfASize = int64_t{1} << 32;

class ConfigReader {
 public:
  ConfigReader(const Json& json, std::string_view path) : json_(json), path_(path) {}

  bool has(const char* key) const { return json_.contains(key) && !json_[key].is_null(); }
  Expected<int64_t> size(const char* key) const {
    if (has(key) && json_[key].is_number_unsigned() && json_[key].get<uint64_t>() <= kMostOfASize &&
        json_[key].get<int64_t>() > 0) {
      return json_[key].get<int64_t>();
    }
    return error(
        fmt::format("{}: \"{}\" is {}, a size is wanted", path_, key, has(key) ? json_[key].dump() : "missing"));
  }
  Expected<int64_t> size_or(const char* key, int64_t otherwise) const {
    return has(key) ? size(key) : Expected<int64_t>(otherwise);
  }
  Expected<double> number_or(const char* key, double otherwise) const {
    if (!has(key)) return otherwise;
    if (json_[key].is_number()) return json_[key].get<double>();
    return error(fmt::format("{}: \"{}\" is {}, a number is wanted", path_, key, json_[key].dump()));
  }
  Expected<std::optional<double>> optional_number(const char* key) const {
    if (!has(key)) return std::optional<double>();
    return std::optional(LUMEN_TRY(number_or(key, 0)));
  }
  bool is_true(const char* key, bool otherwise) const {
    return has(key) && json_[key].is_boolean() ? json_[key].get<bool>() : otherwise;
  }
  std::string text(const char* key) const {
    return has(key) && json_[key].is_string() ? json_[key].get<std::string>() : "";
  }

 private:
  const Json& json_;
  std::string path_;
};

// What GGUF rounded to f32, in as few digits as tell it apart there.
double short_number(double value) {
  return static_cast<float>(value) == value ? std::stod(shortest_digits(DType::f32, value)) : value;
}

Expected<void> read_rope_scaling(const Json& json, std::string_view path, ModelConfig& config) {
  const auto found = json.find("rope_scaling");
  if (found == json.end() || found->is_null()) return {};
  if (!found->is_object())
    return error(fmt::format("{}: \"rope_scaling\" is {}, an object is wanted", path, found->dump()));
  const ConfigReader in(*found, path);
  const std::string type = in.text("rope_type").empty() ? in.text("type") : in.text("rope_type");
  if (type == "default") return {};
  if (type == "linear") {
    config.rope_factor = LUMEN_TRY(in.number_or("factor", 1));
    return {};
  }
  if (type != "llama3") return error(fmt::format("{}: rope scaling \"{}\" is not known", path, type));
  config.rope_stretch = RopeStretch{LUMEN_TRY(in.number_or("factor", 8)), LUMEN_TRY(in.number_or("low_freq_factor", 1)),
                                    LUMEN_TRY(in.number_or("high_freq_factor", 4)),
                                    LUMEN_TRY(in.size("original_max_position_embeddings"))};
  return {};
}

}  // namespace

Expected<void> check_heads(const ModelConfig& config, std::string_view path) {
  if (config.heads % config.key_value_heads == 0 && config.head % 2 == 0 && config.head > 0) return {};
  return error(fmt::format("{}: {} heads over {} of keys and values, of width {}, cannot be", path, config.heads,
                           config.key_value_heads, config.head));
}

Expected<ModelConfig> parse_model_config(std::string_view text, std::string_view path) {
  const Json json = LUMEN_TRY(parse_json_object(text, path, "configuration"));
  const ConfigReader in(json, path);
  const std::optional<ModelFamily> family = family_of_model_type(in.text("model_type"));
  if (!family || has_experts(*family)) {  // of which files have one tensor each
    return error(
        fmt::format("{}: model type \"{}\" is not known; llama, mistral, qwen2, qwen3, gemma, gemma2 and "
                    "gemma3_text are",
                    path, in.text("model_type")));
  }
  ModelConfig config;
  config.family = *family;
  config.vocabulary = LUMEN_TRY(in.size("vocab_size"));
  config.context = LUMEN_TRY(in.size("max_position_embeddings"));
  config.width = LUMEN_TRY(in.size("hidden_size"));
  config.layers = LUMEN_TRY(in.size("num_hidden_layers"));
  config.heads = LUMEN_TRY(in.size("num_attention_heads"));
  config.key_value_heads = LUMEN_TRY(in.size_or("num_key_value_heads", config.heads));
  config.head = LUMEN_TRY(in.size_or("head_dim", config.width / config.heads));
  config.hidden = LUMEN_TRY(in.size("intermediate_size"));
  config.epsilon = LUMEN_TRY(in.number_or("rms_norm_eps", 1e-6));
  config.rope_base = LUMEN_TRY(in.number_or("rope_theta", 10000));
  const bool slides = in.has("sliding_window") && in.is_true("use_sliding_window", true);
  if (slides) config.sliding_window = LUMEN_TRY(in.size("sliding_window"));
  config.attention_softcap = LUMEN_TRY(in.optional_number("attn_logit_softcapping"));
  config.final_softcap = LUMEN_TRY(in.optional_number("final_logit_softcapping"));
  config.tied = in.is_true("tie_word_embeddings", is_gemma(*family));
  LUMEN_TRY(read_rope_scaling(json, path, config));
  LUMEN_TRY(check_heads(config, path));
  return config;
}

std::string config_json(const ModelConfig& config) {
  const std::string type(model_type(config.family));
  Json json = {{"model_type", type},
               {"vocab_size", config.vocabulary},
               {"max_position_embeddings", config.context},
               {"hidden_size", config.width},
               {"num_hidden_layers", config.layers},
               {"num_attention_heads", config.heads},
               {"num_key_value_heads", config.key_value_heads},
               {"head_dim", config.head},
               {"intermediate_size", config.hidden},
               {"rms_norm_eps", short_number(config.epsilon)},
               {"rope_theta", config.rope_base},
               {"tie_word_embeddings", config.tied}};
  if (config.sliding_window) json["sliding_window"] = *config.sliding_window;
  if (config.attention_softcap) json["attn_logit_softcapping"] = *config.attention_softcap;
  if (config.final_softcap) json["final_logit_softcapping"] = *config.final_softcap;
  if (config.rope_factor) json["rope_scaling"] = {{"rope_type", "linear"}, {"factor", *config.rope_factor}};
  if (config.rope_yarn) {
    json["rope_scaling"] = {{"rope_type", "yarn"},
                            {"factor", config.rope_yarn->factor},
                            {"original_max_position_embeddings", config.rope_yarn->original_context},
                            {"truncate", config.family != ModelFamily::gpt_oss}};
  }
  if (has_experts(config.family)) {
    json["num_local_experts"] = config.experts;
    json["num_experts_per_tok"] = config.experts_per_token;
    json["moe_intermediate_size"] = config.expert_hidden;
    json["norm_topk_prob"] = true;
  }
  if (config.family == ModelFamily::gpt_oss) json["separate_gate_up"] = true;
  return json.dump(2) + "\n";
}

std::vector<float> rope_divisors(const ModelConfig& config, const RopeStretch& stretch) {
  const auto original = static_cast<double>(stretch.original_context);
  std::vector<float> result;
  for (int64_t k = 0; k < config.head; k += 2) {
    const double rate = std::pow(config.rope_base, -static_cast<double>(k) / static_cast<double>(config.head));
    const double turns = original * rate / (2 * std::numbers::pi);  // within the original context
    if (turns > stretch.high) {
      result.push_back(1);
    } else if (turns < stretch.low) {
      result.push_back(static_cast<float>(stretch.factor));
    } else {
      const double smooth = (turns - stretch.low) / (stretch.high - stretch.low);
      result.push_back(static_cast<float>(1 / ((1 - smooth) / stretch.factor + smooth)));
    }
  }
  return result;
}

}  // namespace lumen
