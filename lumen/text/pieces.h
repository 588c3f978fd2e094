// Pieces: the parts of a text on their way to the model, and the ways to cut them further.
#pragma once

#include <cstddef>
#include <forward_list>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "lumen/base/expected.h"

namespace lumen::text {

struct Piece {
  std::string_view text;
  bool at_start;  // of the whole input
};

class Pieces {
 public:
  Pieces(std::string_view text, bool at_start);
  const std::vector<Piece>& list() const { return list_; }

  // Every piece is replaced by those that `cut` appends for it; empty ones are dropped.
  using Cut = std::function<Expected<void>(Piece piece, std::vector<Piece>& pieces)>;
  Expected<void> cut(const Cut& cut);
  // Every piece becomes another text.
  void rewrite(const std::function<std::string(Piece piece)>& rewrite);

 private:
  std::vector<Piece> list_;
  std::forward_list<std::string> texts_;  // that rewriting made; views into them stay
};

// What becomes of the delimiters of a split.
enum class Delimiters { removed, isolated, merged_with_previous, merged_with_next, contiguous };

struct Span {
  size_t begin, end;
  bool delimiter;
};

// Cuts a piece by spans that cover it.
void cut_by_spans(Piece piece, std::vector<Span> spans, Delimiters delimiters, std::vector<Piece>& pieces);
// Every character for which `test` holds is a delimiter.
void cut_by_character(Piece piece, bool (*test)(char32_t), Delimiters delimiters, std::vector<Piece>& pieces);

// Cuts all pieces of a text.
using PreTokenizer = std::function<Expected<void>(Pieces& pieces)>;

}  // namespace lumen::text
