// The alphabet of byte-level vocabularies: every byte as one printable character (GPT-2's table).
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

namespace lumen::text {

// The character that stands for a byte; below U+0144.
char32_t byte_character(unsigned char byte);
// Appends the characters for `bytes`.
void append_byte_characters(std::string& text, std::string_view bytes);
// The bytes that `text` stands for; none when it has a character that stands for no byte.
std::optional<std::string> bytes_of_characters(std::string_view text);

}  // namespace lumen::text
