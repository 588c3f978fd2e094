#include "lumen/text/normalizer.h"

#include "lumen/text/unicode.h"
#include "lumen/text/utf8.h"

namespace lumen::text {

namespace {

// Each character becomes what `map` appends for it.
template <class Map>
std::string map_characters(std::string_view text, Map map) {
  std::string result;
  result.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    const Utf8Char c = utf8_at(text, at);
    map(c.code, text.substr(at, c.size), result);
    at += c.size;
  }
  return result;
}

std::string clean(std::string_view text) {
  return map_characters(text, [](char32_t code, std::string_view same, std::string& result) {
    const bool line_space = code == '\t' || code == '\n' || code == '\r';
    if (code == 0 || code == 0xFFFD || (!line_space && is_other(code))) return;
    result += is_space(code) ? " " : same;
  });
}

}  // namespace

std::string normalize_bert(std::string_view text, const BertOptions& options) {
  std::string result(text);
  if (options.clean_text) result = clean(result);
  if (options.chinese_spaces) {
    result = map_characters(result, [](char32_t code, std::string_view same, std::string& to) {
      if (is_cjk(code)) {
        ((to += ' ') += same) += ' ';
      } else {
        to += same;
      }
    });
  }
  if (options.strip_accents) result = strip_marks(normalize(result, NormalForm::nfd), true);
  return options.lowercase ? lowercase(result) : result;
}

std::string strip_spaces(std::string_view text, bool left, bool right) {
  size_t begin = 0;
  while (left && begin < text.size() && is_space(utf8_at(text, begin).code)) begin += utf8_size(text, begin);
  size_t end = text.size();
  while (right && end > begin) {
    size_t last = end - 1;
    while (last > begin && (static_cast<unsigned char>(text[last]) & 0xC0) == 0x80) --last;
    if (!is_space(utf8_at(text, last).code)) break;
    end = last;
  }
  return std::string(text.substr(begin, end - begin));
}

std::string strip_marks(std::string_view text, bool only_nonspacing) {
  return map_characters(text, [&](char32_t code, std::string_view same, std::string& result) {
    if (only_nonspacing ? !is_nonspacing_mark(code) : !is_mark(code)) result += same;
  });
}

std::string normalize_nmt(std::string_view text) {
  return map_characters(text, [](char32_t code, std::string_view same, std::string& result) {
    const auto between = [&](char32_t low, char32_t high) { return code >= low && code <= high; };
    const bool dropped =
        between(0x01, 0x08) || code == 0x0B || between(0x0E, 0x1F) || code == 0x7F || code == 0x8F || code == 0x9F;
    if (dropped) return;
    const bool spaced = code == 0x09 || code == 0x0A || code == 0x0C || code == 0x0D || code == 0x1680 ||
                        between(0x200B, 0x200F) || code == 0x2028 || code == 0x2029 || code == 0x2581 ||
                        code == 0xFEFF || code == 0xFFFD;
    result += spaced ? " " : same;
  });
}

std::string replace_all(std::string_view text, std::string_view from, std::string_view to) {
  if (from.empty()) return std::string(text);
  std::string result;
  size_t done = 0;
  for (size_t at = text.find(from); at != std::string_view::npos; at = text.find(from, done)) {
    (result += text.substr(done, at - done)) += to;
    done = at + from.size();
  }
  return result += text.substr(done);
}

}  // namespace lumen::text
