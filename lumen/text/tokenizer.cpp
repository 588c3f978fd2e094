#include "lumen/text/tokenizer.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "lumen/text/pipeline.h"

namespace lumen {

namespace {

using Json = nlohmann::json;

Expected<std::shared_ptr<const text::Pipeline>> finished(Expected<text::Pipeline> pipeline) {
  auto shared = std::make_shared<text::Pipeline>(LUMEN_TRY(std::move(pipeline)));
  LUMEN_TRY(shared->finish());
  return std::shared_ptr<const text::Pipeline>(std::move(shared));
}

// A token of tokenizer_config.json: its text, or an object with the text as content.
Expected<std::optional<int32_t>> config_token(const Json& config, const char* key, const Tokenizer& tokenizer) {
  const auto found = config.find(key);
  if (found == config.end() || found->is_null()) return std::optional<int32_t>();
  const Json& value = found->is_object() && found->contains("content") ? (*found)["content"] : *found;
  if (!value.is_string()) return error(fmt::format("tokenizer config: {} is not a string", key));
  const std::optional<int32_t> id = tokenizer.id(value.get<std::string>());
  if (!id) return error(fmt::format("tokenizer config: {} \"{}\" is no token", key, value.get<std::string>()));
  return id;
}

// A template, or a list of named ones of which "default" is taken.
std::string config_template(const Json& config) {
  const auto found = config.find("chat_template");
  if (found == config.end()) return "";
  if (found->is_string()) return found->get<std::string>();
  if (!found->is_array()) return "";
  for (const Json& entry : *found) {
    if (!entry.is_object() || entry.value("name", Json()) != "default") continue;
    if (const Json text = entry.value("template", Json()); text.is_string()) return text.get<std::string>();
  }
  return "";
}

}  // namespace

Tokenizer::Tokenizer(std::shared_ptr<const text::Pipeline> pipeline) : pipeline_(std::move(pipeline)) {}

Expected<Tokenizer> Tokenizer::from_json(std::string_view text) {
  return Tokenizer(LUMEN_TRY(finished(text::read_tokenizer_json(text))));
}

Expected<Tokenizer> Tokenizer::from_sentencepiece(std::span<const std::byte> bytes) {
  return Tokenizer(
      LUMEN_TRY(finished(text::read_sentencepiece({reinterpret_cast<const char*>(bytes.data()), bytes.size()}))));
}

Expected<Tokenizer> Tokenizer::from_gguf(const GgufVocabulary& vocabulary) {
  return Tokenizer(LUMEN_TRY(finished(text::read_gguf_vocabulary(vocabulary))));
}

Expected<Tokenizer> Tokenizer::with_config(std::string_view json) const {
  const Json config = Json::parse(json, nullptr, /*allow_exceptions=*/false);
  if (!config.is_object()) return error("tokenizer config: not a JSON object");
  auto pipeline = std::make_shared<text::Pipeline>(*pipeline_);
  if (const auto bos = LUMEN_TRY(config_token(config, "bos_token", *this))) pipeline->bos = bos;
  if (const auto eos = LUMEN_TRY(config_token(config, "eos_token", *this))) pipeline->eos = eos;
  if (std::string chat = config_template(config); !chat.empty()) pipeline->chat_template = std::move(chat);
  return Tokenizer(std::move(pipeline));
}

Expected<std::vector<int32_t>> Tokenizer::encode(std::string_view text, const EncodeOptions& options) const {
  return pipeline_->encode(text, options);
}

std::string Tokenizer::decode(std::span<const int32_t> ids, const DecodeOptions& options) const {
  text::DecodeChain chain(pipeline_->decoder);
  for (const int32_t id : ids) {
    if (const auto token = pipeline_->decoded_token(id, options)) chain.put(*token);
  }
  chain.finish();
  return chain.take();
}

std::string_view Tokenizer::token(int32_t id) const {
  const auto found = pipeline_->added_by_id.find(id);
  if (found != pipeline_->added_by_id.end()) return pipeline_->added[found->second].text;
  return pipeline_->vocabulary->text(id);
}

std::optional<int32_t> Tokenizer::id(std::string_view token) const {
  const auto found = pipeline_->added_by_text.find(token);
  if (found != pipeline_->added_by_text.end()) return found->second;
  return pipeline_->vocabulary->find(token);
}

bool Tokenizer::is_special(int32_t id) const {
  const auto found = pipeline_->added_by_id.find(id);
  return found != pipeline_->added_by_id.end() && pipeline_->added[found->second].special;
}

int32_t Tokenizer::size() const { return pipeline_->size; }
std::optional<int32_t> Tokenizer::bos() const { return pipeline_->bos; }
std::optional<int32_t> Tokenizer::eos() const { return pipeline_->eos; }
const std::string& Tokenizer::chat_template() const { return pipeline_->chat_template; }

Detokenizer::Detokenizer(Tokenizer tokenizer, const DecodeOptions& options)
    : tokenizer_(std::move(tokenizer)),
      options_(options),
      chain_(std::make_unique<text::DecodeChain>(tokenizer_.pipeline_->decoder)) {}
Detokenizer::Detokenizer(Detokenizer&&) noexcept = default;
Detokenizer& Detokenizer::operator=(Detokenizer&&) noexcept = default;
Detokenizer::~Detokenizer() = default;

std::string Detokenizer::push(int32_t id) {
  if (const auto token = tokenizer_.pipeline_->decoded_token(id, options_)) chain_->put(*token);
  return chain_->take();
}

std::string Detokenizer::finish() {
  chain_->finish();
  std::string rest = chain_->take();
  chain_ = std::make_unique<text::DecodeChain>(tokenizer_.pipeline_->decoder);
  return rest;
}

}  // namespace lumen
