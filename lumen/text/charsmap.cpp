#include "lumen/text/charsmap.h"

#include <fmt/format.h>

#include "lumen/text/unicode.h"
#include "lumen/text/utf8.h"

namespace lumen::text {

namespace {

uint32_t word_at(std::string_view bytes, size_t at) {
  uint32_t word = 0;
  for (size_t k = 0; k < 4; ++k) word |= static_cast<uint32_t>(static_cast<unsigned char>(bytes[at + k])) << 8 * k;
  return word;
}

// A unit of the double array (Darts-clone's layout).
struct Unit {
  uint32_t bits;
  bool has_leaf() const { return (bits >> 8 & 1) != 0; }
  uint32_t label() const { return bits & (uint32_t{1} << 31 | 0xFF); }
  uint32_t offset() const { return bits >> 10 << ((bits & uint32_t{1} << 9) >> 6); }
  uint32_t value() const { return bits & ((uint32_t{1} << 31) - 1); }
};

}  // namespace

Expected<Charsmap> Charsmap::parse(std::string_view bytes) {
  if (bytes.size() < 4) return error(fmt::format("charsmap: {} bytes, the size of its trie takes 4", bytes.size()));
  const size_t size = word_at(bytes, 0);
  if (size % 4 != 0 || size == 0 || size > bytes.size() - 4) {
    return error(fmt::format("charsmap: a trie of {} bytes, {} are there", size, bytes.size() - 4));
  }
  Charsmap charsmap;
  for (size_t at = 4; at < 4 + size; at += 4) charsmap.units_.push_back(word_at(bytes, at));
  charsmap.replacements_ = bytes.substr(4 + size);
  if (!charsmap.replacements_.empty() && charsmap.replacements_.back() != '\0') charsmap.replacements_ += '\0';
  return charsmap;
}

std::optional<Charsmap::Match> Charsmap::find(std::string_view text, bool first) const {
  std::optional<Match> match;
  size_t at = Unit{units_[0]}.offset();
  for (size_t k = 0; k < text.size(); ++k) {
    const auto byte = static_cast<unsigned char>(text[k]);
    at ^= byte;
    if (byte == 0 || at >= units_.size()) break;
    const Unit unit{units_[at]};
    if (unit.label() != byte) break;
    at ^= unit.offset();
    if (!unit.has_leaf() || at >= units_.size()) continue;
    const size_t begin = Unit{units_[at]}.value();
    if (begin >= replacements_.size()) continue;
    match = Match{k + 1, replacements_.c_str() + begin};
    if (first) break;
  }
  return match;
}

std::string apply_charsmap_to_graphemes(const Charsmap& charsmap, std::string_view text) {
  std::string result;
  for (size_t at = 0; at < text.size();) {
    const std::string_view grapheme = text.substr(at, grapheme_end(text, at) - at);
    at += grapheme.size();
    if (grapheme.size() < 6) {
      if (const auto match = charsmap.shortest(grapheme)) {
        result += match->replacement;
        continue;
      }
    }
    for (size_t k = 0; k < grapheme.size();) {
      const std::string_view character = grapheme.substr(k, utf8_size(grapheme, k));
      const auto match = charsmap.shortest(character);
      result += match ? match->replacement : character;
      k += character.size();
    }
  }
  return result;
}

}  // namespace lumen::text
