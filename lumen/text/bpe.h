// Byte-pair encoding: characters of a piece are merged, the best pair first, the leftmost of equals, until none is
// left. A queue of pairs makes that O(n log n) for a word of any length.
#pragma once

#include <array>
#include <boost/unordered/unordered_flat_map.hpp>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "lumen/text/model.h"
#include "lumen/text/vocabulary.h"

namespace lumen::text {

struct BpeOptions {
  bool byte_level = false;         // pieces are bytes; the vocabulary is in the alphabet of byte_level.h
  bool byte_fallback = false;      // a character that is not in the vocabulary becomes <0xNN> tokens, where they exist
  bool fuse_unknown = false;       // unknown characters in a row are one token
  bool ignore_merges = false;      // a piece that is a token is that token
  std::optional<int32_t> unknown;  // none: unknown characters vanish
  std::string continuing_prefix;   // before every character of a piece but the first, in the vocabulary
  std::string end_suffix;          // after the last
};

class Bpe : public Model {
 public:
  // Pairs of tokens that merge, the best first. An error names a pair that is not in the vocabulary.
  static Expected<std::unique_ptr<const Bpe>> from_merges(
      std::shared_ptr<const Vocabulary> vocabulary,
      std::span<const std::pair<std::string_view, std::string_view>> merges, BpeOptions options);
  // SentencePiece's kind: neighbours merge when their text is a piece, the highest score first. `scores` has one for
  // each id, none for tokens that text does not become.
  static std::unique_ptr<const Bpe> from_scores(std::shared_ptr<const Vocabulary> vocabulary,
                                                std::span<const std::optional<float>> scores, BpeOptions options);

  Expected<void> encode(std::string_view piece, Scratch& scratch, std::vector<int32_t>& ids) const override;

 private:
  struct Merge {
    uint32_t rank;
    int32_t id;
  };
  Bpe(std::shared_ptr<const Vocabulary> vocabulary, BpeOptions options);
  void make_symbols(std::string_view piece, Scratch& scratch) const;
  std::optional<int32_t> find_character(std::string_view character, bool first, bool last) const;
  bool add_bytes(std::string_view character, size_t at, Scratch& scratch) const;
  std::optional<Merge> find_merge(std::string_view piece, const Symbol& left, const Symbol& right) const;
  void merge(std::string_view piece, Scratch& scratch) const;
  void append_ids(std::string_view piece, const Scratch& scratch, std::vector<int32_t>& ids) const;

  static constexpr size_t kTable = 0x180;
  std::shared_ptr<const Vocabulary> vocabulary_;
  BpeOptions options_;
  boost::unordered_flat_map<uint64_t, Merge> merges_;  // by the two ids; unused when there are ranks
  std::vector<uint32_t> ranks_;                        // by id, kNoRank for what is no piece
  std::array<int32_t, kTable> character_ids_;          // of the first characters of Unicode; -1: none
  std::array<int32_t, 256> byte_ids_;                  // of <0xNN>; -1: none
};

// "<0x0A>", as vocabularies with byte fallback spell it.
std::string byte_token(unsigned char byte);
std::optional<unsigned char> byte_of_token(std::string_view token);

}  // namespace lumen::text
