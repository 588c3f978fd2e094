#include <array>
#include <nlohmann/json.hpp>

#include "lumen/text/byte_level.h"
#include "lumen/text/charsmap.h"
#include "lumen/text/json_fields.h"
#include "lumen/text/json_parts.h"
#include "lumen/text/unicode.h"
#include "lumen/text/utf8.h"

namespace lumen::text {

namespace {

using Json = nlohmann::json;

constexpr std::array<std::string_view, 14> kNormalizers = {
    "BertNormalizer", "ByteLevel", "Lowercase", "NFC",      "NFD",   "NFKC",        "NFKD", "Nmt",
    "Precompiled",    "Prepend",   "Replace",   "Sequence", "Strip", "StripAccents"};

// A normalizer that cannot fail.
template <class F>
Normalizer total(F function) {
  return [function](std::string text) -> Expected<std::string> { return function(std::move(text)); };
}

Expected<std::string> decode_base64(const std::string& text, const JsonObject& object) {
  std::string bytes;
  uint32_t bits = 0;
  int count = 0;
  for (const char c : text) {
    if (c == '=') break;
    const int digit = c >= 'A' && c <= 'Z'   ? c - 'A'
                      : c >= 'a' && c <= 'z' ? c - 'a' + 26
                      : c >= '0' && c <= '9' ? c - '0' + 52
                      : c == '+'             ? 62
                      : c == '/'             ? 63
                                             : -1;
    if (digit < 0) return object.bad("\"precompiled_charsmap\" is not base64");
    bits = (bits << 6 | static_cast<uint32_t>(digit)) & 0xFFFFFF;
    count += 6;
    if (count < 8) continue;
    count -= 8;
    bytes += static_cast<char>(bits >> count);
  }
  return bytes;
}

Expected<Normalizer> read_precompiled(const JsonObject& object) {
  const std::string bytes = LUMEN_TRY(decode_base64(LUMEN_TRY(object.string("precompiled_charsmap", "")), object));
  if (bytes.empty()) return total([](std::string text) { return text; });
  const auto charsmap = std::make_shared<const Charsmap>(LUMEN_TRY(Charsmap::parse(bytes)));
  return total([charsmap](std::string text) { return replace_invalid(apply_charsmap_to_graphemes(*charsmap, text)); });
}

Expected<Normalizer> read_bert_normalizer(const JsonObject& object) {
  BertOptions options;
  options.clean_text = LUMEN_TRY(object.boolean("clean_text", true));
  options.chinese_spaces = LUMEN_TRY(object.boolean("handle_chinese_chars", true));
  options.lowercase = LUMEN_TRY(object.boolean("lowercase", true));
  options.strip_accents = LUMEN_TRY(object.boolean("strip_accents", options.lowercase));
  return total([options](std::string text) { return normalize_bert(text, options); });
}

Expected<Normalizer> read_replacement(const JsonObject& object) {
  const JsonPattern pattern = LUMEN_TRY(read_pattern(*LUMEN_TRY(object.require("pattern")), object.where()));
  const std::string content = LUMEN_TRY(object.string("content"));
  if (!pattern.regex) return total([=](std::string text) { return replace_all(text, pattern.text, content); });
  return Normalizer([regex = *pattern.regex, content](std::string text) -> Expected<std::string> {
    std::string result;
    size_t done = 0;
    Regex::Finder finder(regex, text);
    Regex::Match match{};
    while (LUMEN_TRY(finder.next(match))) {
      (result += std::string_view(text).substr(done, match.begin - done)) += content;
      done = match.end;
    }
    return result += std::string_view(text).substr(done);
  });
}

Expected<Normalizer> read_normalizers(const JsonObject& object, int depth) {
  const Json& parts = *LUMEN_TRY(object.require("normalizers"));
  if (!parts.is_array()) return object.bad("\"normalizers\" is not a list");
  std::vector<Normalizer> normalizers;
  for (const Json& part : parts) normalizers.push_back(LUMEN_TRY(read_normalizer(part, depth + 1)));
  return Normalizer([normalizers](std::string text) -> Expected<std::string> {
    for (const Normalizer& normalize : normalizers) text = LUMEN_TRY(normalize(std::move(text)));
    return text;
  });
}

Normalizer to_form(NormalForm form) {
  return total([form](std::string text) { return normalize(text, form); });
}

}  // namespace

Expected<Normalizer> read_normalizer(const Json& json, int depth) {
  const JsonObject object = LUMEN_TRY(JsonObject::typed(json, "normalizer"));
  if (depth > kMaxJsonDepth) return object.bad("nested too deeply");
  const std::string& type = object.type();
  if (type == "Sequence") return read_normalizers(object, depth);
  if (type == "BertNormalizer") return read_bert_normalizer(object);
  if (type == "Precompiled") return read_precompiled(object);
  if (type == "Replace") return read_replacement(object);
  if (type == "NFC") return to_form(NormalForm::nfc);
  if (type == "NFD") return to_form(NormalForm::nfd);
  if (type == "NFKC") return to_form(NormalForm::nfkc);
  if (type == "NFKD") return to_form(NormalForm::nfkd);
  if (type == "Nmt") return total([](std::string text) { return normalize_nmt(text); });
  if (type == "Lowercase") return total([](std::string text) { return lowercase(text); });
  if (type == "StripAccents") return total([](std::string text) { return strip_marks(text, false); });
  if (type == "Strip") {
    const bool left = LUMEN_TRY(object.boolean("strip_left", true));
    const bool right = LUMEN_TRY(object.boolean("strip_right", true));
    return total([=](std::string text) { return strip_spaces(text, left, right); });
  }
  if (type == "Prepend") {
    const std::string prefix = LUMEN_TRY(object.string("prepend"));
    return total([prefix](std::string text) { return text.empty() ? text : prefix + text; });
  }
  if (type == "ByteLevel") {
    return total([](const std::string& text) {
      std::string characters;
      append_byte_characters(characters, text);
      return characters;
    });
  }
  return object.unsupported(kNormalizers);
}

}  // namespace lumen::text
