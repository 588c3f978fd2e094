#include "lumen/text/word_piece.h"

#include <algorithm>

#include "lumen/text/utf8.h"

namespace lumen::text {

WordPiece::WordPiece(std::shared_ptr<const Vocabulary> vocabulary, WordPieceOptions options)
    : vocabulary_(std::move(vocabulary)), options_(std::move(options)) {
  for (int32_t id = 0; id < vocabulary_->size(); ++id) longest_ = std::max(longest_, vocabulary_->text(id).size());
}

Expected<void> WordPiece::encode(std::string_view piece, Scratch& scratch, std::vector<int32_t>& ids) const {
  if (options_.whole_words) {
    ids.push_back(vocabulary_->find(piece).value_or(options_.unknown));
    return {};
  }
  size_t characters = 0;
  for (size_t at = 0; at < piece.size(); at += utf8_size(piece, at)) ++characters;
  const size_t before = ids.size();
  size_t begin = characters > options_.max_characters ? std::string_view::npos : 0;
  while (begin < piece.size()) {
    scratch.text = begin == 0 ? "" : options_.continuing_prefix;
    const size_t prefix = scratch.text.size();
    scratch.text += piece.substr(begin, std::min(piece.size() - begin, longest_));
    std::optional<int32_t> id;
    size_t size = scratch.text.size();
    for (; size > prefix; --size) {
      // Cuts inside a character find nothing, since tokens are valid UTF-8.
      id = vocabulary_->find(std::string_view(scratch.text).substr(0, size));
      if (id) break;
    }
    if (!id) {
      begin = std::string_view::npos;
      break;
    }
    ids.push_back(*id);
    begin += size - prefix;
  }
  if (begin == std::string_view::npos) {
    ids.resize(before);
    ids.push_back(options_.unknown);
  }
  return {};
}

}  // namespace lumen::text
