#include "lumen/import/gguf_vocabulary.h"

#include <fmt/format.h>

namespace lumen {

namespace {

constexpr std::string_view kPrefix = "tokenizer.ggml.";

std::string key_of(std::string_view name) { return fmt::format("{}{}", kPrefix, name); }

Expected<std::string> optional_string(const Gguf& file, const std::string& key) {
  return file.has(key) ? file.string(key) : Expected<std::string>(std::string());
}

Expected<std::optional<bool>> optional_bool(const Gguf& file, std::string_view name) {
  if (!file.has(key_of(name))) return std::optional<bool>();
  return std::optional(LUMEN_TRY(file.boolean(key_of(name))));
}

Expected<std::optional<int32_t>> optional_id(const Gguf& file, std::string_view name, size_t tokens) {
  const std::string key = key_of(name);
  if (!file.has(key)) return std::optional<int32_t>();
  const int64_t id = LUMEN_TRY(file.integer(key));
  if (id >= 0 && static_cast<uint64_t>(id) < tokens) return std::optional(static_cast<int32_t>(id));
  if (id == -1 || id == UINT32_MAX) return std::optional<int32_t>();  // how writers say that there is none
  return error(fmt::format("{}: metadata \"{}\" is {}, but there are {} tokens", file.path(), key, id, tokens));
}

Expected<void> check_length(const Gguf& file, std::string_view name, size_t length, size_t tokens) {
  if (length == tokens) return {};
  return error(
      fmt::format("{}: metadata \"{}\" has {} values for {} tokens", file.path(), key_of(name), length, tokens));
}

}  // namespace

Expected<GgufVocabulary> vocabulary_of(const Gguf& file) {
  GgufVocabulary result;
  result.model = LUMEN_TRY(file.string(key_of("model")));
  result.pre = LUMEN_TRY(optional_string(file, key_of("pre")));
  result.tokens = LUMEN_TRY(file.strings(key_of("tokens")));
  const size_t tokens = result.tokens.size();
  if (tokens == 0) return error(fmt::format("{}: a vocabulary without tokens", file.path()));
  if (file.has(key_of("scores"))) {
    for (const double score : LUMEN_TRY(file.numbers(key_of("scores")))) {
      result.scores.push_back(static_cast<float>(score));
    }
    LUMEN_TRY(check_length(file, "scores", result.scores.size(), tokens));
  }
  if (file.has(key_of("token_type"))) {
    const std::vector<int64_t> types = LUMEN_TRY(file.integers(key_of("token_type")));
    LUMEN_TRY(check_length(file, "token_type", types.size(), tokens));
    for (const int64_t type : types) result.types.push_back(static_cast<int32_t>(type));
  }
  if (file.has(key_of("merges"))) result.merges = LUMEN_TRY(file.strings(key_of("merges")));
  result.bos = LUMEN_TRY(optional_id(file, "bos_token_id", tokens));
  result.eos = LUMEN_TRY(optional_id(file, "eos_token_id", tokens));
  result.unk = LUMEN_TRY(optional_id(file, "unknown_token_id", tokens));
  result.add_bos = LUMEN_TRY(optional_bool(file, "add_bos_token"));
  result.add_eos = LUMEN_TRY(optional_bool(file, "add_eos_token"));
  result.add_space_prefix = LUMEN_TRY(optional_bool(file, "add_space_prefix"));
  result.chat_template = LUMEN_TRY(optional_string(file, "tokenizer.chat_template"));
  return result;
}

}  // namespace lumen
