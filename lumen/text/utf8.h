// UTF-8, one character at a time. Strict: no overlong forms, no surrogates, nothing above U+10FFFF.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace lumen::text {

inline constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD

struct Utf8Char {
  char32_t code;
  size_t size;  // bytes, at least 1
  bool valid;   // if not: `code` is U+FFFD and `size` the longest prefix that could have begun a character
  bool cut;     // not valid, but more bytes could make it so
};

// The character at text[at]; `at` must be inside.
Utf8Char utf8_at(std::string_view text, size_t at);

// Of a character that starts at text[at], in text that is known to be valid.
inline size_t utf8_size(std::string_view text, size_t at) {
  const auto lead = static_cast<unsigned char>(text[at]);
  return lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
}

bool utf8_valid(std::string_view text);
void append_utf8(std::string& text, char32_t code);
std::u32string utf8_codes(std::string_view text);

// What is invalid becomes U+FFFD, one for each longest prefix of a character, as the Unicode standard recommends.
std::string replace_invalid(std::string_view text);
// The same, one for each byte.
std::string replace_invalid_bytes(std::string_view text);

}  // namespace lumen::text
