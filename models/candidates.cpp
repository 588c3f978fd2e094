#include "models/candidates.h"

#include <algorithm>
#include <limits>

namespace lumen::models {

namespace {

// Of a piece a sixteenth goes on, at most. Pieces are short because a block sorts them with 55 passes over its shared
// memory for 1024 elements and 78 for 4096, each pass as long as the piece is: twice as short is more than twice as
// fast.
constexpr int64_t kShrink = 16;
constexpr int64_t kShortestPiece = 1024;

}  // namespace

ValuesAndIndices likeliest(Tensor x, int64_t k) {
  const int64_t piece = std::max(kShortestPiece, k * kShrink);
  ValuesAndIndices left{x, Tensor()};
  for (int64_t length = x.dim(-1).constant().value(); length > piece;) {
    const int64_t pieces = (length + piece - 1) / piece;
    const auto cut = [&](Tensor line, const Operand& fill) {
      return split_dims(pad_along(line, -1, 0, pieces * piece - length, fill), -1, piece);
    };
    const ValuesAndIndices best = topk(cut(left.values, -std::numeric_limits<double>::infinity()), k);
    Tensor ids = best.indices;
    if (left.indices.graph == nullptr) {
      const int64_t rank = ids.rank();
      ids = ids + iota(*ids.graph, ids.shape(), Expr::index(static_cast<int>(rank - 2), pieces) * piece);
    } else {
      ids = gather_elements(cut(left.indices, 0), -1, ids);
    }
    left = {merge_dims(best.values, -2), merge_dims(ids, -2)};
    length = pieces * k;
  }
  const ValuesAndIndices best = topk(left.values, k);
  if (left.indices.graph == nullptr) return best;
  return {best.values, gather_elements(left.indices, -1, best.indices)};
}

void list_candidates(Tensor logits, Tensor largest, Tensor temperatures, int64_t k) {
  const ValuesAndIndices best = likeliest(logits, k);
  cast(best.indices, i32).output("candidates");
  best.values.output("candidate_logits");
  const Tensor above = logits - unsqueeze(largest, 2);
  sum(exp(above / unsqueeze(unsqueeze(temperatures, 1), 2)), {2}).output("weight");
}

}  // namespace lumen::models
