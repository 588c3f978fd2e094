// WordPiece: the longest token that a word starts with, then the longest that goes on, and so on; a word that cannot be
// written so is the unknown token. With an empty prefix and whole words only it is WordLevel.
#pragma once

#include <memory>
#include <string>

#include "lumen/text/model.h"
#include "lumen/text/vocabulary.h"

namespace lumen::text {

struct WordPieceOptions {
  int32_t unknown = 0;
  std::string continuing_prefix = "##";
  size_t max_characters = 100;  // longer words are unknown
  bool whole_words = false;     // a word is one token
};

class WordPiece : public Model {
 public:
  WordPiece(std::shared_ptr<const Vocabulary> vocabulary, WordPieceOptions options);
  Expected<void> encode(std::string_view piece, Scratch& scratch, std::vector<int32_t>& ids) const override;

 private:
  std::shared_ptr<const Vocabulary> vocabulary_;
  WordPieceOptions options_;
  size_t longest_ = 0;  // token, in bytes
};

}  // namespace lumen::text
