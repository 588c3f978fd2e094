#include "lumen/text/unicode.h"

#include <utf8proc.h>

#include <cstdlib>

#include "lumen/base/check.h"
#include "lumen/text/utf8.h"

namespace lumen::text {

namespace {

utf8proc_category_t category(char32_t c) { return utf8proc_category(static_cast<utf8proc_int32_t>(c)); }

bool between(char32_t c, char32_t low, char32_t high) { return c >= low && c <= high; }

}  // namespace

bool is_space(char32_t c) {
  if (c < 0x80) return c == ' ' || between(c, '\t', '\r');
  return c == 0x85 || c == 0xA0 || c == 0x1680 || between(c, 0x2000, 0x200A) || c == 0x2028 || c == 0x2029 ||
         c == 0x202F || c == 0x205F || c == 0x3000;
}

bool is_number(char32_t c) {
  const utf8proc_category_t kind = category(c);
  return kind >= UTF8PROC_CATEGORY_ND && kind <= UTF8PROC_CATEGORY_NO;
}

bool is_punctuation(char32_t c) {
  if (c < 0x80) return between(c, 33, 47) || between(c, 58, 64) || between(c, 91, 96) || between(c, 123, 126);
  const utf8proc_category_t kind = category(c);
  return kind >= UTF8PROC_CATEGORY_PC && kind <= UTF8PROC_CATEGORY_PO;
}

bool is_mark(char32_t c) {
  const utf8proc_category_t kind = category(c);
  return kind >= UTF8PROC_CATEGORY_MN && kind <= UTF8PROC_CATEGORY_ME;
}

bool is_nonspacing_mark(char32_t c) { return category(c) == UTF8PROC_CATEGORY_MN; }

bool is_other(char32_t c) {
  const utf8proc_category_t kind = category(c);
  return kind == UTF8PROC_CATEGORY_CC || kind == UTF8PROC_CATEGORY_CF || kind == UTF8PROC_CATEGORY_CN ||
         kind == UTF8PROC_CATEGORY_CO;
}

bool is_word(char32_t c) {
  const utf8proc_category_t kind = category(c);
  if (kind >= UTF8PROC_CATEGORY_LU && kind <= UTF8PROC_CATEGORY_NL) return true;  // L, M, Nd, Nl stand together
  if (kind == UTF8PROC_CATEGORY_PC || c == 0x200C || c == 0x200D) return true;
  // The symbols that are Alphabetic: letters in circles and squares.
  return between(c, 0x24B6, 0x24E9) || between(c, 0x1F130, 0x1F149) || between(c, 0x1F150, 0x1F169) ||
         between(c, 0x1F170, 0x1F189);
}

bool is_cjk(char32_t c) {
  return between(c, 0x4E00, 0x9FFF) || between(c, 0x3400, 0x4DBF) || between(c, 0x20000, 0x2A6DF) ||
         between(c, 0x2A700, 0x2B73F) || between(c, 0x2B740, 0x2B81F) || between(c, 0x2B920, 0x2CEAF) ||
         between(c, 0xF900, 0xFAFF) || between(c, 0x2F800, 0x2FA1F);
}

std::string normalize(std::string_view text, NormalForm form) {
  const bool compatible = form == NormalForm::nfkc || form == NormalForm::nfkd;
  const bool compose = form == NormalForm::nfc || form == NormalForm::nfkc;
  const int options =
      UTF8PROC_STABLE | (compose ? UTF8PROC_COMPOSE : UTF8PROC_DECOMPOSE) | (compatible ? UTF8PROC_COMPAT : 0);
  utf8proc_uint8_t* result = nullptr;
  const utf8proc_ssize_t size =
      utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(text.data()), static_cast<utf8proc_ssize_t>(text.size()),
                   &result, static_cast<utf8proc_option_t>(options));
  CHECK(size >= 0, utf8proc_errmsg(size));
  std::string normalized(reinterpret_cast<const char*>(result), static_cast<size_t>(size));
  std::free(result);
  return normalized;
}

std::string lowercase(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    const Utf8Char c = utf8_at(text, at);
    at += c.size;
    if (c.code < 0x80) {
      result += static_cast<char>(between(c.code, 'A', 'Z') ? c.code + 32 : c.code);
    } else if (c.code == 0x130) {  // the one character whose lower case is two
      result += "i\xCC\x87";
    } else {
      append_utf8(result, static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(c.code))));
    }
  }
  return result;
}

std::string uppercase(std::string_view text) {
  std::string result;
  for (size_t at = 0; at < text.size();) {
    const Utf8Char c = utf8_at(text, at);
    at += c.size;
    if (c.code == 0xDF) {
      result += "SS";
    } else {
      append_utf8(result, static_cast<char32_t>(utf8proc_toupper(static_cast<utf8proc_int32_t>(c.code))));
    }
  }
  return result;
}

size_t grapheme_end(std::string_view text, size_t at) {
  utf8proc_int32_t state = 0;
  Utf8Char before = utf8_at(text, at);
  at += before.size;
  while (at < text.size()) {
    const Utf8Char next = utf8_at(text, at);
    if (utf8proc_grapheme_break_stateful(static_cast<utf8proc_int32_t>(before.code),
                                         static_cast<utf8proc_int32_t>(next.code), &state)) {
      break;
    }
    at += next.size;
    before = next;
  }
  return at;
}

}  // namespace lumen::text
