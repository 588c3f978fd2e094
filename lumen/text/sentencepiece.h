// SentencePiece's model file, as it stands (sentencepiece_model.proto), and its normaliser.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lumen/base/expected.h"
#include "lumen/text/charsmap.h"
#include "lumen/text/normalizer.h"
#include "lumen/text/pieces.h"
#include "lumen/text/vocabulary.h"

namespace lumen::text {

enum class PieceType { normal = 1, unknown = 2, control = 3, user_defined = 4, unused = 5, byte = 6 };

struct SentencePieceModel {
  struct Piece {
    std::string text;
    float score = 0;
    PieceType type = PieceType::normal;
  };
  enum class Type { unigram = 1, bpe = 2, word = 3, character = 4 };

  std::vector<Piece> pieces;
  Type type = Type::unigram;
  bool byte_fallback = false;
  bool space_is_suffix = false;
  std::string bos_piece = "<s>", eos_piece = "</s>";
  std::string unknown_surface = " \xE2\x81\x87 ";

  std::string charsmap;  // empty: none
  bool add_dummy_prefix = true;
  bool remove_extra_spaces = true;
  bool escape_spaces = true;
};

Expected<SentencePieceModel> parse_sentencepiece(std::string_view bytes);

inline constexpr std::string_view kSpaceMark = "\xE2\x96\x81";  // U+2581, which stands for a space

// Spaces become marks, one is put before the text, those that are too many vanish; the charsmap is applied.
Expected<Normalizer> sentencepiece_normalizer(const SentencePieceModel& model);

// Cuts before every mark that follows something else: words, which the cache may know. Empty where that could change
// what is merged: `is_text(id)` tokens have a mark inside, or the mark itself is none.
PreTokenizer cut_at_marks(const Vocabulary& vocabulary, const std::function<bool(int32_t id)>& is_text);

}  // namespace lumen::text
