// Unigram: of all ways to write a piece as tokens, the one with the largest sum of scores.
#pragma once

#include <array>
#include <boost/unordered/unordered_flat_map.hpp>
#include <memory>
#include <optional>
#include <vector>

#include "lumen/text/model.h"
#include "lumen/text/vocabulary.h"

namespace lumen::text {

struct UnigramOptions {
  std::optional<int32_t> unknown;
  bool byte_fallback = false;
  // Sums are rounded to float and kept small, as by SentencePiece 0.2.2; Hugging Face's are doubles.
  bool float_sums = false;
};

struct UnigramPiece {
  double score = 0;
  bool used = true;           // text may become it
  bool user_defined = false;  // text always becomes it
};

class Unigram : public Model {
 public:
  // One piece for each id of the vocabulary.
  Unigram(std::shared_ptr<const Vocabulary> vocabulary, std::vector<UnigramPiece> pieces, UnigramOptions options);
  Expected<void> encode(std::string_view piece, Scratch& scratch, std::vector<int32_t>& ids) const override;

 private:
  // A trie over bytes: the child of node n for byte b is children_[n << 8 | b].
  struct Node {
    int32_t id = -1;
  };
  void add_to_trie(std::string_view text, int32_t id);
  int32_t child(uint32_t node, char byte) const;
  Expected<void> find_best_paths(std::string_view piece, Scratch& scratch) const;
  void append(std::string_view text, int32_t id, std::vector<int32_t>& ids) const;

  std::shared_ptr<const Vocabulary> vocabulary_;
  std::vector<UnigramPiece> pieces_;
  UnigramOptions options_;
  double unknown_score_ = 0;
  std::vector<Node> nodes_;
  boost::unordered_flat_map<uint64_t, uint32_t> children_;
  std::array<int32_t, 256> byte_ids_;
};

}  // namespace lumen::text
