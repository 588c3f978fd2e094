#include "lumen/text/gguf_cuts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "lumen/text/pre_tokenizer.h"

namespace lumen::text {

namespace {

constexpr std::string_view kLlama3 =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view kQwen2 =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view kO200k =
    R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|)"
    R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|)"
    R"(\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view kTekken = R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+|)"
                                     R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*|)"
                                     R"(\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view kDeepSeek3 =
    R"([!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|)"
    R"(\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view kQwen35 =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+|)"
    R"(\s+(?!\S)|\s+)";

const std::vector<GgufCut>& known_cuts() {
  static const std::vector<GgufCut> cuts = {
      {"default", {R"([\p{P}\$\+<=>\^~\|]+)", kGpt2Regex, R"(\p{N}+)", "[0-9][0-9][0-9]"}},
      {"gpt-2", {kGpt2Regex}},
      {"phi-2", {kGpt2Regex}},
      {"mpt", {kGpt2Regex}},
      {"olmo", {kGpt2Regex}},
      {"llama-bpe", {kLlama3}, true},
      {"dbrx", {kLlama3}},
      {"smaug-bpe", {kLlama3}},
      {"chatglm-bpe", {kLlama3}},
      {"qwen2", {kQwen2}},
      {"deepseek-r1-qwen", {kQwen2}},
      {"stablelm2", {kQwen2}},
      {"qwen35", {kQwen35}},
      {"gpt-4o", {kO200k}},
      {"llama4", {kO200k}},
      {"tekken", {kTekken}, true},
      {"deepseek-v3", {R"(\p{N}{1,3})", "[一-龥぀-ゟ゠-ヿ]+", kDeepSeek3}},
      {"deepseek-coder", {R"([\r\n])", R"(\s?\p{L}+)", R"(\s?\p{P}+)", "[一-龥ࠀ-一가-퟿]+", R"(\p{N})"}},
      {"falcon", {R"([\p{P}\$\+<=>\^~\|`]+)", kGpt2Regex, "[0-9][0-9][0-9]"}},
      {"starcoder", {R"(\p{N})", kGpt2Regex}},
      {"refact", {R"(\p{N})", kGpt2Regex}},
      {"command-r", {R"(\p{N})", kGpt2Regex}},
      {"smollm", {R"(\p{N})", kGpt2Regex}},
      {"exaone", {R"(\p{N})", kGpt2Regex}},
      {"bloom", {R"( ?[^(\s|.,!?…。，、।۔،)]+)"}},
  };
  return cuts;
}

}  // namespace

Expected<GgufCut> gguf_cut(std::string_view name) {
  if (name.empty()) name = "default";
  const std::vector<GgufCut>& cuts = known_cuts();
  const auto found = std::find_if(cuts.begin(), cuts.end(), [&](const GgufCut& cut) { return cut.name == name; });
  if (found != cuts.end()) return *found;
  std::vector<std::string_view> names;
  for (const GgufCut& cut : cuts) names.push_back(cut.name);
  return error(fmt::format("GGUF vocabulary: pre-tokenizer \"{}\" is not supported; these are: {}", name,
                           fmt::join(names, ", ")));
}

}  // namespace lumen::text
