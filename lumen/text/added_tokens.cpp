#include "lumen/text/added_tokens.h"

#include <algorithm>

#include "lumen/text/unicode.h"
#include "lumen/text/utf8.h"

namespace lumen::text {

namespace {

// Where the character before text[at] begins; at > 0.
size_t character_before(std::string_view text, size_t at) {
  do --at;
  while (at > 0 && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80);
  return at;
}

bool touches_word(std::string_view text, size_t begin, size_t end) {
  return (begin > 0 && is_word(utf8_at(text, character_before(text, begin)).code)) ||
         (end < text.size() && is_word(utf8_at(text, end).code));
}

size_t before_spaces(std::string_view text, size_t at) {
  while (at > 0) {
    const size_t before = character_before(text, at);
    if (!is_space(utf8_at(text, before).code)) break;
    at = before;
  }
  return at;
}

size_t after_spaces(std::string_view text, size_t at) {
  while (at < text.size() && is_space(utf8_at(text, at).code)) at += utf8_size(text, at);
  return at;
}

}  // namespace

void TokenFinder::add(std::string_view text, const AddedToken& token) {
  if (text.empty() || !tokens_.emplace(std::string(text), token).second) return;
  std::vector<size_t>& sizes = sizes_[static_cast<unsigned char>(text[0])];
  const auto place = std::lower_bound(sizes.begin(), sizes.end(), text.size(), std::greater<>());
  if (place == sizes.end() || *place != text.size()) sizes.insert(place, text.size());
}

std::optional<TokenFinder::Found> TokenFinder::find_at(std::string_view text, size_t at) const {
  for (const size_t size : sizes_[static_cast<unsigned char>(text[at])]) {
    if (size > text.size() - at) continue;
    const auto found = tokens_.find(text.substr(at, size));
    if (found != tokens_.end()) return Found{size, &found->second};
  }
  return std::nullopt;
}

std::optional<size_t> TokenFinder::size_at(std::string_view text, size_t at) const {
  const std::optional<Found> found = find_at(text, at);
  return found ? std::optional(found->size) : std::nullopt;
}

std::vector<TokenFinder::Part> TokenFinder::split(std::string_view text, bool find_special) const {
  std::vector<Part> parts;
  size_t done = 0;
  const auto add_text = [&](size_t end) {
    if (done < end) parts.push_back({text.substr(done, end - done), nullptr});
  };
  for (size_t at = 0; at < text.size() && !tokens_.empty();) {
    const std::optional<Found> found = find_at(text, at);
    if (!found) {
      ++at;
      continue;
    }
    size_t begin = at;
    size_t end = at + found->size;
    at = end;
    const AddedToken& token = *found->token;
    if (token.special && !find_special) continue;
    if (token.single_word && touches_word(text, begin, end)) continue;
    if (token.strip_left) begin = std::max(before_spaces(text, begin), done);
    if (token.strip_right) end = after_spaces(text, end);
    add_text(begin);
    parts.push_back({text.substr(begin, end - begin), &token});
    done = end;
  }
  add_text(text.size());
  return parts;
}

}  // namespace lumen::text
