#include "lumen/import/json_object.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace lumen {

Expected<nlohmann::json> parse_json_object(std::string_view text, std::string_view path, std::string_view what) {
  using Json = nlohmann::json;
  std::vector<std::set<std::string>> keys;
  std::optional<std::string> repeated;
  const auto watch = [&](int, Json::parse_event_t event, Json& parsed) {
    if (event == Json::parse_event_t::object_start) keys.emplace_back();
    if (event == Json::parse_event_t::object_end) keys.pop_back();
    if (event == Json::parse_event_t::key && !keys.back().insert(parsed.get<std::string>()).second) {
      repeated = parsed.get<std::string>();
    }
    return true;
  };
  Json object = Json::parse(text, watch, /*allow_exceptions=*/false);
  if (object.is_discarded() || !object.is_object()) {
    return error(fmt::format("{}: the {} is not a JSON object", path, what));
  }
  if (repeated) return error(fmt::format("{}: name \"{}\" occurs twice in the {}", path, *repeated, what));
  return object;
}

}  // namespace lumen
