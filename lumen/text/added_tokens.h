// Added tokens: texts that become one id wherever they stand, before anything else looks at the text.
#pragma once

#include <array>
#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lumen/text/vocabulary.h"

namespace lumen::text {

struct AddedToken {
  int32_t id = -1;
  std::string text;
  bool special = false;      // left out by decode, when asked to; not found by encode, when asked not to
  bool single_word = false;  // only where no word character touches it
  bool strip_left = false;   // takes the white space before it with it
  bool strip_right = false;
  bool normalized = false;  // looked for after normalisation
};

// Finds tokens in a text: the leftmost, the longest of those.
class TokenFinder {
 public:
  // `text` is what to look for. Of two tokens with the same text the first is found; an empty text is ignored.
  void add(std::string_view text, const AddedToken& token);
  bool empty() const { return tokens_.empty(); }
  // Of the longest token that stands at text[at].
  std::optional<size_t> size_at(std::string_view text, size_t at) const;

  struct Part {
    std::string_view text;
    const AddedToken* token;  // null: other text
  };
  // All of `text`, in order; special tokens are other text unless asked for.
  std::vector<Part> split(std::string_view text, bool find_special) const;

 private:
  struct Found {
    size_t size;
    const AddedToken* token;
  };
  std::optional<Found> find_at(std::string_view text, size_t at) const;

  boost::unordered_flat_map<std::string, AddedToken, TextHash, std::equal_to<>> tokens_;
  std::array<std::vector<size_t>, 256> sizes_;  // of the tokens that start with a byte, the longest first
};

}  // namespace lumen::text
