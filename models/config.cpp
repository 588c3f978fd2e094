#include "models/config.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

namespace lumen::models {

namespace {

using Json = nlohmann::json;

constexpr int64_t kMostOfASize = int64_t{1} << 20;
constexpr int64_t kMostTokens = int64_t{1} << 26;
constexpr int64_t kMostLayers = 1024;
constexpr double kMostOfAnInteger = 9007199254740992.0;  // 2^53: doubles are exact up to here
constexpr size_t kShownValue = 60;

std::string shown(const Json& value) {
  std::string text = value.dump(-1, ' ', false, Json::error_handler_t::replace);
  if (text.size() > kShownValue) text = text.substr(0, kShownValue) + "…";
  return text;
}

std::optional<int64_t> as_integer(const Json& value) {
  if (value.is_number_unsigned() && value.get<uint64_t>() > uint64_t{1} << 62) return {};
  if (value.is_number_integer()) return value.get<int64_t>();
  if (!value.is_number_float()) return {};
  const double number = value.get<double>();
  if (!(std::abs(number) <= kMostOfAnInteger) || number != std::floor(number)) return {};
  return static_cast<int64_t>(number);
}

}  // namespace

Expected<Config> Config::parse(std::string_view text) {
  auto root = std::make_shared<const Json>(Json::parse(text, nullptr, /*allow_exceptions=*/false));
  if (!root->is_object()) return error("config.json: not a JSON object");
  const Json* here = root.get();
  return Config(std::move(root), here, "");
}

Diag Config::problem(std::string_view key, std::string_view text) const {
  return error(fmt::format("config.json: \"{}{}\" {}", path_, key, text));
}

Diag Config::wrong_type(std::string_view key, std::string_view wanted, const Json& got) const {
  return problem(key, fmt::format("must be {}, got {}", wanted, shown(got)));
}

const Json* Config::find(std::string_view key) const {
  const auto found = here_->find(std::string(key));
  return found == here_->end() || found->is_null() ? nullptr : &*found;
}

Expected<const Json*> Config::need(std::string_view key) const {
  const Json* found = find(key);
  if (found == nullptr) return problem(key, "is missing");
  return found;
}

bool Config::has(std::string_view key) const { return find(key) != nullptr; }

Expected<int64_t> Config::integer(std::string_view key) const {
  const Json* value = LUMEN_TRY(need(key));
  if (const std::optional<int64_t> integer = as_integer(*value)) return *integer;
  return wrong_type(key, "an integer", *value);
}

Expected<int64_t> Config::integer(std::string_view key, int64_t fallback) const {
  return has(key) ? integer(key) : fallback;
}

Expected<int64_t> Config::up_to(int64_t most, std::string_view key) const {
  const int64_t value = LUMEN_TRY(integer(key));
  if (value >= 1 && value <= most) return value;
  return problem(key, fmt::format("must be from 1 to {}, got {}", most, value));
}

Expected<int64_t> Config::size(std::string_view key) const { return up_to(kMostOfASize, key); }

Expected<int64_t> Config::size(std::string_view key, int64_t fallback) const { return has(key) ? size(key) : fallback; }

Expected<int64_t> Config::token_count(std::string_view key) const { return up_to(kMostTokens, key); }

Expected<int64_t> Config::layer_count(std::string_view key) const { return up_to(kMostLayers, key); }

Expected<double> Config::number(std::string_view key) const {
  const Json* value = LUMEN_TRY(need(key));
  if (!value->is_number() || !std::isfinite(value->get<double>())) return wrong_type(key, "a number", *value);
  return value->get<double>();
}

Expected<double> Config::number(std::string_view key, double fallback) const {
  return has(key) ? number(key) : fallback;
}

Expected<bool> Config::boolean(std::string_view key, bool fallback) const {
  const Json* value = find(key);
  if (value == nullptr) return fallback;
  if (!value->is_boolean()) return wrong_type(key, "true or false", *value);
  return value->get<bool>();
}

Expected<std::string> Config::string(std::string_view key) const {
  const Json* value = LUMEN_TRY(need(key));
  if (!value->is_string()) return wrong_type(key, "a string", *value);
  return value->get<std::string>();
}

Expected<std::string> Config::string(std::string_view key, std::string_view fallback) const {
  return has(key) ? string(key) : std::string(fallback);
}

Expected<std::vector<double>> Config::numbers(std::string_view key) const {
  const Json* value = LUMEN_TRY(need(key));
  std::vector<double> numbers;
  bool fits = value->is_array();
  if (fits) {
    for (const Json& each : *value) {
      fits = fits && each.is_number() && std::isfinite(each.get<double>());
      if (fits) numbers.push_back(each.get<double>());
    }
  }
  if (!fits) return wrong_type(key, "a list of numbers", *value);
  return numbers;
}

Expected<std::vector<std::string>> Config::strings(std::string_view key) const {
  const Json* value = LUMEN_TRY(need(key));
  std::vector<std::string> strings;
  bool fits = value->is_array();
  if (fits) {
    for (const Json& each : *value) {
      fits = fits && each.is_string();
      if (fits) strings.push_back(each.get<std::string>());
    }
  }
  if (!fits) return wrong_type(key, "a list of strings", *value);
  return strings;
}

Expected<Config> Config::object(std::string_view key) const {
  const Json* value = LUMEN_TRY(need(key));
  if (!value->is_object()) return wrong_type(key, "an object", *value);
  return Config(root_, value, fmt::format("{}{}.", path_, key));
}

Expected<std::optional<double>> Config::optional_number(std::string_view key) const {
  if (!has(key)) return std::optional<double>();
  return std::optional<double>(LUMEN_TRY(number(key)));
}

Expected<std::optional<int64_t>> Config::optional_token_count(std::string_view key) const {
  if (!has(key)) return std::optional<int64_t>();
  return std::optional<int64_t>(LUMEN_TRY(token_count(key)));
}

}  // namespace lumen::models
