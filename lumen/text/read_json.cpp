#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "lumen/text/json_fields.h"
#include "lumen/text/json_parts.h"
#include "lumen/text/pipeline.h"
#include "lumen/text/pre_tokenizer.h"

namespace lumen::text {

namespace {

using Json = nlohmann::json;

Expected<AddedToken> read_added(const Json& json, const Vocabulary& vocabulary) {
  const JsonObject object = LUMEN_TRY(JsonObject::of(json, "added_tokens"));
  AddedToken token;
  token.text = LUMEN_TRY(object.string("content"));
  const int64_t id = LUMEN_TRY(object.integer("id", -1));
  if (id < 0 || id >= Vocabulary::kMaxId) return object.bad(fmt::format("\"{}\" has no id in range", token.text));
  // A token of the model keeps the model's id.
  token.id = vocabulary.find(token.text).value_or(static_cast<int32_t>(id));
  token.special = LUMEN_TRY(object.boolean("special", false));
  token.single_word = LUMEN_TRY(object.boolean("single_word", false));
  token.strip_left = LUMEN_TRY(object.boolean("lstrip", false));
  token.strip_right = LUMEN_TRY(object.boolean("rstrip", false));
  token.normalized = LUMEN_TRY(object.boolean("normalized", !token.special));
  return token;
}

}  // namespace

Expected<JsonPattern> read_pattern(const Json& json, const std::string& where) {
  const JsonObject object = LUMEN_TRY(JsonObject::of(json, where + ": pattern"));
  JsonPattern pattern;
  if (object.find("String") != nullptr) {
    pattern.text = LUMEN_TRY(object.string("String"));
    return pattern;
  }
  if (object.find("Regex") == nullptr) return object.bad("neither String nor Regex");
  Expected<Regex> regex = Regex::compile(LUMEN_TRY(object.string("Regex")));
  if (!regex.ok()) return object.bad(regex.diag().message);
  pattern.regex = std::move(regex).value();
  return pattern;
}

Expected<Pipeline> read_tokenizer_json(std::string_view text) {
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (json.is_discarded()) return error("tokenizer.json: not JSON");
  const JsonObject object = LUMEN_TRY(JsonObject::of(json, "the whole"));
  Pipeline pipeline;
  if (const Json* part = object.find("normalizer")) pipeline.normalize = LUMEN_TRY(read_normalizer(*part));
  PreTokenizerPart pre;
  if (const Json* part = object.find("pre_tokenizer")) pre = LUMEN_TRY(read_pre_tokenizer(*part));
  const Json& model = *LUMEN_TRY(object.require("model"));
  const bool bpe = model.is_object() && (model.contains("merges") || model.value("type", Json()) == "BPE");
  if (pre.byte_level && !bpe) pre.pre_tokenize = in_sequence({pre.pre_tokenize, to_byte_characters()});
  ModelPart read = LUMEN_TRY(read_model(model, pre.byte_level && bpe));
  pipeline.pre_tokenize = std::move(pre.pre_tokenize);
  pipeline.vocabulary = std::move(read.vocabulary);
  pipeline.model = std::move(read.model);
  if (const Json* part = object.find("post_processor")) {
    PostProcessorPart post = LUMEN_TRY(read_post_processor(*part));
    pipeline.prefix = std::move(post.prefix);
    pipeline.suffix = std::move(post.suffix);
  }
  pipeline.decoder = {decode_join()};
  if (const Json* part = object.find("decoder")) pipeline.decoder = LUMEN_TRY(read_decoder(*part));
  if (const Json* tokens = object.find("added_tokens")) {
    if (!tokens->is_array()) return object.bad("\"added_tokens\" is not a list");
    for (const Json& token : *tokens) {
      pipeline.added.push_back(LUMEN_TRY(read_added(token, *pipeline.vocabulary)));
    }
  }
  return pipeline;
}

}  // namespace lumen::text
