#include "lumen/text/utf8.h"

namespace lumen::text {

namespace {

struct Lead {
  size_t size = 0;                        // 0: no character starts so
  unsigned char low = 0x80, high = 0xBF;  // what the second byte may be
};

Lead lead_of(unsigned char byte) {
  if (byte < 0x80) return {1};
  if (byte >= 0xC2 && byte <= 0xDF) return {2};
  if (byte == 0xE0) return {3, 0xA0, 0xBF};
  if (byte == 0xED) return {3, 0x80, 0x9F};
  if (byte >= 0xE1 && byte <= 0xEF) return {3};
  if (byte == 0xF0) return {4, 0x90, 0xBF};
  if (byte == 0xF4) return {4, 0x80, 0x8F};
  if (byte >= 0xF1 && byte <= 0xF3) return {4};
  return {};
}

}  // namespace

Utf8Char utf8_at(std::string_view text, size_t at) {
  const auto byte = [&](size_t k) { return static_cast<unsigned char>(text[at + k]); };
  if (byte(0) < 0x80) return {byte(0), 1, true, false};
  const Lead lead = lead_of(byte(0));
  if (lead.size == 0) return {0xFFFD, 1, false, false};
  char32_t code = byte(0) & (0x7Fu >> lead.size);
  for (size_t k = 1; k < lead.size; ++k) {
    if (at + k == text.size()) return {0xFFFD, k, false, true};
    const unsigned char low = k == 1 ? lead.low : 0x80;
    const unsigned char high = k == 1 ? lead.high : 0xBF;
    if (byte(k) < low || byte(k) > high) return {0xFFFD, k, false, false};
    code = code << 6 | (byte(k) & 0x3Fu);
  }
  return {code, lead.size, true, false};
}

bool utf8_valid(std::string_view text) {
  for (size_t at = 0; at < text.size();) {
    const Utf8Char c = utf8_at(text, at);
    if (!c.valid) return false;
    at += c.size;
  }
  return true;
}

void append_utf8(std::string& text, char32_t code) {
  const auto add = [&](char32_t byte) { text += static_cast<char>(byte); };
  if (code < 0x80) return add(code);
  if (code < 0x800) {
    add(0xC0 | code >> 6);
  } else {
    if (code < 0x10000) {
      add(0xE0 | code >> 12);
    } else {
      add(0xF0 | code >> 18);
      add(0x80 | (code >> 12 & 0x3F));
    }
    add(0x80 | (code >> 6 & 0x3F));
  }
  add(0x80 | (code & 0x3F));
}

std::u32string utf8_codes(std::string_view text) {
  std::u32string codes;
  for (size_t at = 0; at < text.size();) {
    const Utf8Char c = utf8_at(text, at);
    codes += c.code;
    at += c.size;
  }
  return codes;
}

namespace {

std::string replace_wrong(std::string_view text, bool per_byte) {
  std::string result;
  result.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    const Utf8Char c = utf8_at(text, at);
    result += c.valid ? text.substr(at, c.size) : kReplacement;
    at += c.valid || !per_byte ? c.size : 1;
  }
  return result;
}

}  // namespace

std::string replace_invalid(std::string_view text) { return replace_wrong(text, false); }
std::string replace_invalid_bytes(std::string_view text) { return replace_wrong(text, true); }

}  // namespace lumen::text
