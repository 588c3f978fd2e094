#include "models/candidates.h"

#include <algorithm>
#include <limits>
#include <utility>

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

namespace {

// [batch, 1, 1]
Tensor field_of(Tensor draws, DrawField which) {
  return unsqueeze(narrow(draws, 1, static_cast<int64_t>(which), 1), 2);
}

// The draw of a Sampler (text/sampler.h) from the k likeliest of each row. Sums are f32, so that one which is within
// one part in 2^13 of what it is compared with decides nothing: the weight of all is known to one in 2^14, others are
// better.
class DrawBuilder {
 public:
  // `logits` and `ids` are [batch, rows, k], `weight` [batch, rows, 1].
  DrawBuilder(Tensor logits, Tensor ids, Tensor weight, Tensor draws, bool lists_all)
      : ids_(ids), total_(weight), draws_(draws), lists_all_(lists_all) {
    count_ = logits.dim(-1).constant().value();
    places_ = cast(iota(*logits.graph, logits.shape(), Expr::index(2, count_)), f32);
    const Tensor first = narrow(logits, 2, 0, 1);
    weights_ = exp((logits - first) / field(DrawField::temperature));
    sums_ = cumsum(weights_, 2);
    doubt_ = logical_not(logical_and(isfinite(first), logical_and(isfinite(weight), gt(weight, 0))));
  }

  // Tokens [batch, rows, 1], and whether they are certain.
  std::pair<Tensor, Tensor> build() {
    keep_top_k();
    keep_top_p();
    keep_min_p();
    const Tensor place = field(DrawField::uniform) * total_;
    const Tensor before = how_many(le(sums_, place));
    doubt(logical_or(any_close(sums_, place), ge(before, how_many(kept_))));
    const Tensor chosen = cast(minimum(before, static_cast<double>(count_ - 1)), i64);
    return {gather_elements(ids_, 2, chosen), logical_not(doubt_)};
  }

 private:
  void keep_top_k() {
    const Tensor k = field(DrawField::top_k), limits = gt(k, 0);
    if (!lists_all_) doubt(gt(k, static_cast<double>(count_)));
    kept_ = logical_or(logical_not(limits), lt(places_, k));
    total_ = where(limits, weight_kept(), total_);
    all_known_ = lists_all_ ? ge(k, 0) : limits;
  }

  void keep_top_p() {
    const Tensor p = field(DrawField::top_p), limits = lt(p, 1), wanted = p * total_;
    const Tensor before = how_many(lt(sums_, wanted));
    doubt(logical_and(limits, logical_or(any_close(sums_, wanted), ge(before, how_many(kept_)))));
    kept_ = logical_and(kept_, logical_or(logical_not(limits), le(places_, before)));
    total_ = where(limits, weight_kept(), total_);
    all_known_ = logical_or(all_known_, limits);
  }

  void keep_min_p() {
    const Tensor least = field(DrawField::min_p), limits = gt(least, 0);
    doubt(logical_and(limits, any_close(weights_, least)));
    kept_ = logical_and(kept_, ge(weights_, least));
    const Tensor goes_on = logical_and(logical_not(all_known_), ge(how_many(kept_), static_cast<double>(count_)));
    doubt(logical_and(limits, goes_on));
    total_ = where(limits, weight_kept(), total_);
  }

  Tensor field(DrawField which) const { return field_of(draws_, which); }
  Tensor weight_kept() const { return sum(where(kept_, weights_, 0.0), {2}, true); }
  // Of those that are kept.
  Tensor how_many(Tensor which) const { return sum(cast(logical_and(kept_, which), f32), {2}, true); }
  Tensor any_close(Tensor x, Tensor to) const { return gt(how_many(le(abs(x - to), to * 0x1p-13)), 0); }
  void doubt(Tensor where) { doubt_ = logical_or(doubt_, where); }

  Tensor ids_, total_, draws_;
  bool lists_all_;
  int64_t count_;
  Tensor places_, weights_, sums_;
  Tensor kept_;       // what is drawn from
  Tensor all_known_;  // nothing else can be
  Tensor doubt_;
};

}  // namespace

void list_candidates(Tensor logits, Tensor largest, Tensor draws, int64_t k) {
  const ValuesAndIndices best = likeliest(logits, k);
  const Tensor ids = cast(best.indices, i32).output("candidates");
  best.values.output("candidate_logits");
  const Tensor above = logits - unsqueeze(largest, 2);
  const Tensor weight = sum(exp(above / field_of(draws, DrawField::temperature)), {2}).output("weight");
  const bool lists_all = logits.dim(-1) == Expr(k);
  const auto [drawn, decided] = DrawBuilder(best.values, ids, unsqueeze(weight, 2), draws, lists_all).build();
  squeeze(drawn, {2}).output("drawn");
  squeeze(decided, {2}).output("decided");
}

}  // namespace lumen::models
