#include "lumen/text/json_fields.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

namespace lumen::text {

namespace {

using Json = nlohmann::json;

}  // namespace

Expected<JsonObject> JsonObject::of(const Json& json, std::string where) {
  JsonObject object;
  object.json_ = &json;
  object.where_ = std::move(where);
  if (!json.is_object()) return object.bad(fmt::format("not an object but {}", json.type_name()));
  return object;
}

Expected<JsonObject> JsonObject::typed(const Json& json, std::string where) {
  JsonObject object = LUMEN_TRY(of(json, std::move(where)));
  object.type_ = LUMEN_TRY(object.string("type"));
  object.where_ += ": " + object.type_;
  return object;
}

const Json* JsonObject::find(const char* key) const {
  const auto found = json_->find(key);
  return found == json_->end() || found->is_null() ? nullptr : &*found;
}

Expected<const Json*> JsonObject::require(const char* key) const {
  if (const Json* value = find(key)) return value;
  return bad(fmt::format("\"{}\" is missing", key));
}

Expected<bool> JsonObject::boolean(const char* key, bool otherwise) const {
  const Json* value = find(key);
  if (value == nullptr) return otherwise;
  if (!value->is_boolean()) return bad(fmt::format("\"{}\" is not true or false", key));
  return value->get<bool>();
}

Expected<int64_t> JsonObject::integer(const char* key, int64_t otherwise) const {
  const Json* value = find(key);
  if (value == nullptr) return otherwise;
  if (!value->is_number_integer()) return bad(fmt::format("\"{}\" is not an integer", key));
  return value->get<int64_t>();
}

Expected<std::string> JsonObject::string(const char* key, std::string otherwise) const {
  const Json* value = find(key);
  if (value == nullptr) return otherwise;
  if (!value->is_string()) return bad(fmt::format("\"{}\" is not a string", key));
  return value->get<std::string>();
}

Expected<std::string> JsonObject::string(const char* key) const {
  LUMEN_TRY(require(key));
  return string(key, "");
}

Diag JsonObject::bad(std::string_view text) const { return error(fmt::format("tokenizer.json: {}: {}", where_, text)); }

Diag JsonObject::unsupported(std::span<const std::string_view> supported) const {
  return bad(fmt::format("not supported; these are: {}", fmt::join(supported, ", ")));
}

}  // namespace lumen::text
