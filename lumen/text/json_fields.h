// Fields of the objects in a tokenizer.json, with errors that say where: `pre_tokenizer: Split: "pattern" is missing`.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "lumen/base/expected.h"

namespace lumen::text {

class JsonObject {
 public:
  // An error when `json` is no object. `where` names it in messages; `json` must outlive this.
  static Expected<JsonObject> of(const nlohmann::json& json, std::string where);
  // Of a part that says its kind in "type"; `where` then ends with it.
  static Expected<JsonObject> typed(const nlohmann::json& json, std::string where);

  const std::string& type() const { return type_; }
  const std::string& where() const { return where_; }

  // Null where it is absent or null.
  const nlohmann::json* find(const char* key) const;
  Expected<const nlohmann::json*> require(const char* key) const;

  // The default where it is absent or null; an error when it is something else.
  Expected<bool> boolean(const char* key, bool otherwise) const;
  Expected<int64_t> integer(const char* key, int64_t otherwise) const;
  Expected<std::string> string(const char* key, std::string otherwise) const;
  Expected<std::string> string(const char* key) const;

  Diag bad(std::string_view text) const;
  // For a type that is not in `supported`.
  Diag unsupported(std::span<const std::string_view> supported) const;

 private:
  const nlohmann::json* json_ = nullptr;
  std::string where_;
  std::string type_;
};

}  // namespace lumen::text
