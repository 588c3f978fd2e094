#include "lumen/import/gguf.h"

#include <fmt/format.h>

#include <optional>

#include "lumen/base/file.h"
#include "lumen/base/nearest.h"
#include "lumen/import/gguf_parser.h"

namespace lumen {

size_t GgufValue::size() const {
  return std::visit([](const auto& each) { return each.size(); }, values);
}

std::string GgufValue::type_text() const {
  return is_array ? fmt::format("[{}]", name(type)) : std::string(name(type));
}

Expected<Gguf> Gguf::parse(std::span<const std::byte> bytes, std::string_view path) {
  return GgufParser(bytes, path).parse();
}

Expected<Gguf> Gguf::open(const std::string& path) {
  auto mapping = std::make_shared<MappedFile>(LUMEN_TRY(MappedFile::open(path)));
  Gguf file = LUMEN_TRY(parse(mapping->bytes(), path));
  file.mapping_ = std::move(mapping);
  return file;
}

Expected<const GgufValue*> Gguf::find(std::string_view key, bool is_array) const {
  const auto found = metadata_.find(key);
  if (found == metadata_.end()) {
    std::vector<std::string_view> keys;
    for (const auto& [known, value] : metadata_) keys.emplace_back(known);
    const std::optional<std::string> guess = nearest(key, keys);
    return error(fmt::format("{}: no metadata \"{}\"{}", path_, key,
                             guess ? fmt::format("; did you mean \"{}\"?", *guess) : ""));
  }
  if (found->second.is_array == is_array) return &found->second;
  return error(fmt::format("{}: metadata \"{}\" is {}, {} is wanted", path_, key, found->second.type_text(),
                           is_array ? "an array" : "a single value"));
}

namespace {

Diag wrong_kind(std::string_view path, std::string_view key, const GgufValue& value, std::string_view wanted) {
  return error(fmt::format("{}: metadata \"{}\" is {}, {} is wanted", path, key, value.type_text(), wanted));
}

bool is_integer(const GgufValue& value) {
  return std::holds_alternative<GgufValue::Integers>(value.values) && value.type != GgufType::bool_;
}

double as_number(GgufType type, int64_t value) {
  return type == GgufType::u64 ? static_cast<double>(static_cast<uint64_t>(value)) : static_cast<double>(value);
}

}  // namespace

Expected<int64_t> Gguf::integer(std::string_view key) const {
  const GgufValue* const value = LUMEN_TRY(find(key, false));
  if (!is_integer(*value)) return wrong_kind(path_, key, *value, "an integer");
  const int64_t result = std::get<GgufValue::Integers>(value->values)[0];
  if (value->type != GgufType::u64 || result >= 0) return result;
  return error(fmt::format("{}: metadata \"{}\" is {}, which is too large", path_, key, static_cast<uint64_t>(result)));
}

Expected<double> Gguf::number(std::string_view key) const {
  const GgufValue* const value = LUMEN_TRY(find(key, false));
  if (is_integer(*value)) return as_number(value->type, std::get<GgufValue::Integers>(value->values)[0]);
  if (const auto* const floats = std::get_if<GgufValue::Floats>(&value->values)) return (*floats)[0];
  return wrong_kind(path_, key, *value, "a number");
}

Expected<bool> Gguf::boolean(std::string_view key) const {
  const GgufValue* const value = LUMEN_TRY(find(key, false));
  if (value->type != GgufType::bool_) return wrong_kind(path_, key, *value, "a bool");
  return std::get<GgufValue::Integers>(value->values)[0] != 0;
}

Expected<std::string> Gguf::string(std::string_view key) const {
  const GgufValue* const value = LUMEN_TRY(find(key, false));
  if (value->type != GgufType::string) return wrong_kind(path_, key, *value, "a string");
  return std::get<GgufValue::Strings>(value->values)[0];
}

Expected<std::vector<std::string>> Gguf::strings(std::string_view key) const {
  const GgufValue* const value = LUMEN_TRY(find(key, true));
  if (value->type != GgufType::string) return wrong_kind(path_, key, *value, "an array of strings");
  return std::get<GgufValue::Strings>(value->values);
}

Expected<std::vector<int64_t>> Gguf::integers(std::string_view key) const {
  const GgufValue* const value = LUMEN_TRY(find(key, true));
  if (!is_integer(*value)) return wrong_kind(path_, key, *value, "an array of integers");
  return std::get<GgufValue::Integers>(value->values);
}

Expected<std::vector<double>> Gguf::numbers(std::string_view key) const {
  const GgufValue* const value = LUMEN_TRY(find(key, true));
  if (const auto* const floats = std::get_if<GgufValue::Floats>(&value->values)) return *floats;
  if (!is_integer(*value)) return wrong_kind(path_, key, *value, "an array of numbers");
  std::vector<double> result;
  for (const int64_t each : std::get<GgufValue::Integers>(value->values))
    result.push_back(as_number(value->type, each));
  return result;
}

}  // namespace lumen
