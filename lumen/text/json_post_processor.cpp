#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>

#include "lumen/text/json_fields.h"
#include "lumen/text/json_parts.h"
#include "lumen/text/vocabulary.h"

namespace lumen::text {

namespace {

using Json = nlohmann::json;

constexpr std::array<std::string_view, 5> kPostProcessors = {"BertProcessing", "ByteLevel", "RobertaProcessing",
                                                             "Sequence", "TemplateProcessing"};

Expected<int32_t> read_id(const Json& json, const JsonObject& object) {
  if (!json.is_number_integer() || json.get<int64_t>() < 0 || json.get<int64_t>() >= Vocabulary::kMaxId) {
    return object.bad(fmt::format("{} is not an id", json.dump(-1, ' ', false, Json::error_handler_t::replace)));
  }
  return json.get<int32_t>();
}

// ["[CLS]", 101]
Expected<int32_t> read_pair(const JsonObject& object, const char* key) {
  const Json& pair = *LUMEN_TRY(object.require(key));
  if (!pair.is_array() || pair.size() != 2) return object.bad(fmt::format("\"{}\" is not a token and its id", key));
  return read_id(pair[1], object);
}

Expected<std::vector<int32_t>> read_special(const JsonObject& object, const Json& item) {
  const JsonObject special = LUMEN_TRY(JsonObject::of(item, object.where() + ": SpecialToken"));
  const std::string name = LUMEN_TRY(special.string("id"));
  const JsonObject known = LUMEN_TRY(JsonObject::of(*LUMEN_TRY(object.require("special_tokens")), object.where()));
  const Json* token = known.find(name.c_str());
  if (token == nullptr) return object.bad(fmt::format("special token \"{}\" is not in \"special_tokens\"", name));
  const JsonObject entry = LUMEN_TRY(JsonObject::of(*token, object.where() + ": special_tokens"));
  const Json& ids = *LUMEN_TRY(entry.require("ids"));
  if (!ids.is_array()) return entry.bad("\"ids\" is not a list");
  std::vector<int32_t> result;
  for (const Json& id : ids) result.push_back(LUMEN_TRY(read_id(id, entry)));
  return result;
}

Expected<PostProcessorPart> read_template(const JsonObject& object) {
  const Json& single = *LUMEN_TRY(object.require("single"));
  if (!single.is_array()) return object.bad("\"single\" is not a list");
  PostProcessorPart part;
  bool seen = false;
  for (const Json& item : single) {
    const JsonObject fields = LUMEN_TRY(JsonObject::of(item, object.where() + ": single"));
    if (fields.find("Sequence") != nullptr) {
      if (std::exchange(seen, true)) return object.bad("\"single\" has the text twice");
      continue;
    }
    const std::vector<int32_t> ids = LUMEN_TRY(read_special(object, *LUMEN_TRY(fields.require("SpecialToken"))));
    std::vector<int32_t>& side = seen ? part.suffix : part.prefix;
    side.insert(side.end(), ids.begin(), ids.end());
  }
  if (!seen) return object.bad("\"single\" does not have the text");
  return part;
}

Expected<PostProcessorPart> read_parts(const JsonObject& object, int depth) {
  const Json& processors = *LUMEN_TRY(object.require("processors"));
  if (!processors.is_array()) return object.bad("\"processors\" is not a list");
  PostProcessorPart all;
  for (const Json& processor : processors) {
    const PostProcessorPart part = LUMEN_TRY(read_post_processor(processor, depth + 1));
    all.prefix.insert(all.prefix.begin(), part.prefix.begin(), part.prefix.end());
    all.suffix.insert(all.suffix.end(), part.suffix.begin(), part.suffix.end());
  }
  return all;
}

}  // namespace

Expected<PostProcessorPart> read_post_processor(const Json& json, int depth) {
  const JsonObject object = LUMEN_TRY(JsonObject::typed(json, "post_processor"));
  if (depth > kMaxJsonDepth) return object.bad("nested too deeply");
  const std::string& type = object.type();
  if (type == "Sequence") return read_parts(object, depth);
  if (type == "TemplateProcessing") return read_template(object);
  if (type == "ByteLevel") return PostProcessorPart{};  // is about offsets
  if (type == "BertProcessing" || type == "RobertaProcessing") {
    // Not within the braces: what is made there before an error is not given back.
    const int32_t first = LUMEN_TRY(read_pair(object, "cls")), last = LUMEN_TRY(read_pair(object, "sep"));
    return PostProcessorPart{{first}, {last}};
  }
  return object.unsupported(kPostProcessors);
}

}  // namespace lumen::text
