// Charsmap: SentencePiece's precompiled normaliser, a double-array trie over UTF-8 whose leaves point to replacements.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lumen/base/expected.h"

namespace lumen::text {

class Charsmap {
 public:
  // The bytes as they stand in a model: the trie's size, the trie, the replacements, each ended by a zero byte.
  static Expected<Charsmap> parse(std::string_view bytes);

  struct Match {
    size_t size;  // bytes of the key
    std::string_view replacement;
  };
  // The longest (or the shortest) key that `text` starts with.
  std::optional<Match> longest(std::string_view text) const { return find(text, false); }
  std::optional<Match> shortest(std::string_view text) const { return find(text, true); }

 private:
  std::optional<Match> find(std::string_view text, bool first) const;
  std::vector<uint32_t> units_;
  std::string replacements_;
};

// Hugging Face's way to apply one: whole grapheme clusters of less than 6 bytes by their shortest key, other text
// character by character.
std::string apply_charsmap_to_graphemes(const Charsmap& charsmap, std::string_view text);

}  // namespace lumen::text
