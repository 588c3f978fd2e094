#include "models/rope_config.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

namespace lumen::models {

namespace {

using nn::RopeScaling;
using nn::RopeSettings;

constexpr std::array kRopeTypes = {
    std::pair{std::string_view("default"), RopeScaling::none},
    std::pair{std::string_view("linear"), RopeScaling::linear},
    std::pair{std::string_view("dynamic"), RopeScaling::dynamic},
    std::pair{std::string_view("llama3"), RopeScaling::llama3},
    std::pair{std::string_view("longrope"), RopeScaling::longrope},
    std::pair{std::string_view("su"), RopeScaling::longrope},  // Phi-3's first name for it
    std::pair{std::string_view("yarn"), RopeScaling::yarn},
    std::pair{std::string_view("proportional"), RopeScaling::proportional},
};

Expected<RopeScaling> read_type(const Config& rope) {
  const std::string_view key = rope.has("rope_type") || !rope.has("type") ? "rope_type" : "type";
  const std::string name = LUMEN_TRY(rope.string(key, "default"));
  std::string known;
  for (const auto& [type, scaling] : kRopeTypes) {
    if (type == name) return scaling;
    known += fmt::format("{}{}", known.empty() ? "" : ", ", type);
  }
  return rope.problem(key, fmt::format("is \"{}\"; supported are {}", name, known));
}

Expected<void> read_longrope(const Config& rope, const RopeDefaults& defaults, RopeSettings& settings) {
  settings.short_factors = LUMEN_TRY(rope.numbers("short_factor"));
  settings.long_factors = LUMEN_TRY(rope.numbers("long_factor"));
  const auto pairs = static_cast<size_t>(settings.size / 2);
  for (const auto& [key, factors] :
       {std::pair{"short_factor", &settings.short_factors}, std::pair{"long_factor", &settings.long_factors}}) {
    if (factors->size() == pairs) continue;
    return rope.problem(
        key, fmt::format("must have {} factors, one for each pair that is rotated, got {}", pairs, factors->size()));
  }
  const double factor =
      LUMEN_TRY(rope.number("factor", static_cast<double>(defaults.max_positions) / settings.trained_context));
  const double usual = factor <= 1 ? 1 : std::sqrt(1 + std::log(factor) / std::log(settings.trained_context));
  settings.attention_factor = LUMEN_TRY(rope.number("attention_factor", usual));
  return {};
}

double yarn_scale(double factor, double times) { return factor <= 1 ? 1 : 0.1 * times * std::log(factor) + 1; }

Expected<void> read_yarn(const Config& rope, RopeSettings& settings) {
  const std::optional<double> over = LUMEN_TRY(rope.optional_number("mscale"));
  const std::optional<double> under = LUMEN_TRY(rope.optional_number("mscale_all_dim"));
  const bool both = over.value_or(0) != 0 && under.value_or(0) != 0;
  const double usual =
      both ? yarn_scale(settings.factor, *over) / yarn_scale(settings.factor, *under) : yarn_scale(settings.factor, 1);
  settings.attention_factor = LUMEN_TRY(rope.number("attention_factor", usual));
  settings.beta_fast = LUMEN_TRY(rope.number("beta_fast", 32));
  settings.beta_slow = LUMEN_TRY(rope.number("beta_slow", 1));
  settings.truncate = LUMEN_TRY(rope.boolean("truncate", true));
  return {};
}

// How many elements of a head are rotated, or paired.
Expected<void> read_rotated(const Config& rope, const RopeDefaults& defaults, RopeSettings& settings) {
  const double share = LUMEN_TRY(rope.number("partial_rotary_factor", defaults.rotated_share));
  const double rotated = static_cast<double>(defaults.head_dim) * share;
  settings.size = share > 0 && share <= 1 ? static_cast<int64_t>(rotated) : 0;
  if (settings.scaling == RopeScaling::proportional) {
    // The whole head is paired; the pairs that are not rotated stand still.
    settings.rotated_pairs = settings.size / 2;
    settings.size = defaults.head_dim;
  }
  if (settings.size >= 2 && settings.size % 2 == 0) return {};
  return rope.problem("partial_rotary_factor",
                      fmt::format("{} of a head of {} is no even number of elements", share, defaults.head_dim));
}

}  // namespace

Expected<RopeSettings> read_rope_object(const Config& rope, const RopeDefaults& defaults) {
  RopeSettings settings;
  settings.scaling = LUMEN_TRY(read_type(rope));
  settings.base = LUMEN_TRY(rope.number("rope_theta", defaults.base));
  if (!(settings.base > 0)) return rope.problem("rope_theta", fmt::format("must be positive, got {}", settings.base));
  LUMEN_TRY(read_rotated(rope, defaults, settings));
  const auto most = static_cast<double>(defaults.max_positions);
  const bool dynamic = settings.scaling == RopeScaling::dynamic;
  const double trained = defaults.trained_context > 0 ? defaults.trained_context : most;
  settings.trained_context = dynamic ? most : LUMEN_TRY(rope.number("original_max_position_embeddings", trained));
  settings.factor = LUMEN_TRY(rope.number("factor", most / settings.trained_context));
  if (!(settings.factor > 0)) return rope.problem("factor", fmt::format("must be positive, got {}", settings.factor));
  if (!(settings.trained_context > 0)) return rope.problem("original_max_position_embeddings", "must be positive");
  if (settings.scaling == RopeScaling::longrope) LUMEN_TRY(read_longrope(rope, defaults, settings));
  if (settings.scaling == RopeScaling::yarn) LUMEN_TRY(read_yarn(rope, settings));
  if (settings.scaling == RopeScaling::llama3) {
    settings.low_freq_factor = LUMEN_TRY(rope.number("low_freq_factor"));
    settings.high_freq_factor = LUMEN_TRY(rope.number("high_freq_factor"));
  }
  if (settings.scaling == RopeScaling::proportional) settings.factor = LUMEN_TRY(rope.number("factor", 1));
  return settings;
}

Expected<RopeSettings> read_rope(const Config& config, const RopeDefaults& defaults) {
  RopeDefaults outside = defaults;
  outside.base = LUMEN_TRY(config.number("rope_theta", defaults.base));
  outside.rotated_share = LUMEN_TRY(config.number("partial_rotary_factor", defaults.rotated_share));
  outside.trained_context = LUMEN_TRY(config.number("original_max_position_embeddings", defaults.trained_context));
  for (const std::string_view key : {"rope_parameters", "rope_scaling"}) {
    if (config.has(key)) return read_rope_object(LUMEN_TRY(config.object(key)), outside);
  }
  return read_rope_object(LUMEN_TRY(Config::parse("{}")), outside);
}

Expected<RopeSettings> read_rope(const Config& config, std::string_view layer_type, const RopeDefaults& defaults) {
  if (config.has("rope_parameters")) {
    const Config types = LUMEN_TRY(config.object("rope_parameters"));
    if (types.has(layer_type)) return read_rope_object(LUMEN_TRY(types.object(layer_type)), defaults);
  }
  return read_rope(config, defaults);
}

}  // namespace lumen::models
