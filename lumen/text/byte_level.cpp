#include "lumen/text/byte_level.h"

#include "lumen/text/utf8.h"

namespace lumen::text {

namespace {

constexpr size_t kCharacters = 0x144;

struct Table {
  std::array<char32_t, 256> character{};
  std::array<int16_t, kCharacters> byte{};
};

constexpr bool stands_for_itself(unsigned byte) {
  return (byte >= '!' && byte <= '~') || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
}

// Printable Latin-1 stands for itself; the others are counted up from U+0100.
constexpr Table make_table() {
  Table table;
  for (int16_t& byte : table.byte) byte = -1;
  char32_t next = 0x100;
  for (unsigned byte = 0; byte < 256; ++byte) {
    table.character[byte] = stands_for_itself(byte) ? static_cast<char32_t>(byte) : next++;
    table.byte[table.character[byte]] = static_cast<int16_t>(byte);
  }
  return table;
}

constexpr Table kTable = make_table();

}  // namespace

char32_t byte_character(unsigned char byte) { return kTable.character[byte]; }

void append_byte_characters(std::string& text, std::string_view bytes) {
  for (const char byte : bytes) append_utf8(text, byte_character(static_cast<unsigned char>(byte)));
}

std::optional<std::string> bytes_of_characters(std::string_view text) {
  std::string bytes;
  for (size_t at = 0; at < text.size();) {
    const Utf8Char c = utf8_at(text, at);
    if (!c.valid || c.code >= kCharacters || kTable.byte[c.code] < 0) return std::nullopt;
    bytes += static_cast<char>(kTable.byte[c.code]);
    at += c.size;
  }
  return bytes;
}

}  // namespace lumen::text
