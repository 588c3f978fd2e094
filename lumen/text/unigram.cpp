#include "lumen/text/unigram.h"

#include <algorithm>
#include <cmath>

#include "lumen/text/bpe.h"
#include "lumen/text/utf8.h"

namespace lumen::text {

namespace {

constexpr double kUnknownPenalty = 10;  // below the smallest score

// SentencePiece takes a sum larger than this out of all sums beyond it, as floats of that size are too coarse. Nothing
// but a string of some 10,000 letters gets there, and it comes out as other tokens then.
constexpr double kLargeSum = 100'000;

// More than the sum of all other ways to write its bytes, which is negative.
double user_defined_score(size_t bytes) { return static_cast<float>(0.1 * (static_cast<double>(bytes) - 1)); }

}  // namespace

Unigram::Unigram(std::shared_ptr<const Vocabulary> vocabulary, std::vector<UnigramPiece> pieces, UnigramOptions options)
    : vocabulary_(std::move(vocabulary)), pieces_(std::move(pieces)), options_(options), nodes_(1) {
  double least = 0;
  bool any = false;
  for (const UnigramPiece& piece : pieces_) {
    if (!piece.used || piece.user_defined) continue;
    least = any ? std::min(least, piece.score) : piece.score;
    any = true;
  }
  unknown_score_ = least - kUnknownPenalty;
  if (options_.float_sums) unknown_score_ = static_cast<float>(unknown_score_);
  for (size_t id = 0; id < pieces_.size(); ++id) {
    const std::string_view text = vocabulary_->text(static_cast<int64_t>(id));
    if (!pieces_[id].used || text.empty()) continue;
    add_to_trie(text, static_cast<int32_t>(id));
    if (pieces_[id].user_defined) pieces_[id].score = user_defined_score(text.size());
  }
  for (unsigned byte = 0; byte < 256; ++byte) {
    byte_ids_[byte] = vocabulary_->find(byte_token(static_cast<unsigned char>(byte))).value_or(-1);
  }
}

void Unigram::add_to_trie(std::string_view text, int32_t id) {
  uint32_t node = 0;
  for (const char byte : text) {
    const uint64_t key = uint64_t{node} << 8 | static_cast<unsigned char>(byte);
    const auto [place, added] = children_.try_emplace(key, static_cast<uint32_t>(nodes_.size()));
    if (added) nodes_.emplace_back();
    node = place->second;
  }
  if (nodes_[node].id < 0) nodes_[node].id = id;
}

int32_t Unigram::child(uint32_t node, char byte) const {
  const auto found = children_.find(uint64_t{node} << 8 | static_cast<unsigned char>(byte));
  return found == children_.end() ? -1 : static_cast<int32_t>(found->second);
}

Expected<void> Unigram::find_best_paths(std::string_view piece, Scratch& scratch) const {
  std::vector<Scratch::BestPath>& paths = scratch.paths;
  paths.assign(piece.size() + 1, {0, -1, -1});
  size_t farthest = 0;
  const auto offer = [&](size_t begin, size_t end, double score, int32_t id) {
    farthest = std::max(farthest, end);
    double sum = paths[begin].score + score;
    if (options_.float_sums) sum = static_cast<float>(sum);
    Scratch::BestPath& path = paths[end];
    if (path.begin < 0 || sum > path.score) path = {sum, id, static_cast<int32_t>(begin)};
  };
  for (size_t at = 0; at < piece.size();) {
    if (options_.float_sums && std::abs(paths[at].score) > kLargeSum) {
      const double large = paths[at].score;
      for (size_t end = at; end <= farthest; ++end) {
        if (paths[end].begin >= 0) paths[end].score = static_cast<float>(paths[end].score - large);
      }
    }
    const size_t size = utf8_size(piece, at);
    bool has_single = false;
    uint32_t node = 0;
    for (size_t end = at; end < piece.size();) {
      const int32_t next = child(node, piece[end++]);
      if (next < 0) break;
      node = static_cast<uint32_t>(next);
      const int32_t id = nodes_[node].id;
      if (id < 0) continue;
      offer(at, end, pieces_[static_cast<size_t>(id)].score, id);
      has_single |= end - at == size;
    }
    if (!has_single) {
      if (!options_.unknown) return error("the tokenizer has no token for what it does not know (unk_id)");
      offer(at, at + size, unknown_score_, *options_.unknown);
    }
    at += size;
  }
  return {};
}

// `text` as a token that may be the unknown one.
void Unigram::append(std::string_view text, int32_t id, std::vector<int32_t>& ids) const {
  if (id != options_.unknown || !options_.byte_fallback) return ids.push_back(id);
  const bool all = std::all_of(text.begin(), text.end(),
                               [&](char byte) { return byte_ids_[static_cast<unsigned char>(byte)] >= 0; });
  if (!all) return ids.push_back(id);
  for (const char byte : text) ids.push_back(byte_ids_[static_cast<unsigned char>(byte)]);
}

Expected<void> Unigram::encode(std::string_view piece, Scratch& scratch, std::vector<int32_t>& ids) const {
  LUMEN_TRY(find_best_paths(piece, scratch));
  std::vector<int32_t>& ends = scratch.ids;  // of the tokens, the last first
  ends.clear();
  for (auto end = static_cast<int32_t>(piece.size()); end > 0;) {
    const Scratch::BestPath& path = scratch.paths[static_cast<size_t>(end)];
    // What is unknown is one token with the unknown before it.
    const bool fused = !ends.empty() && path.id == options_.unknown &&
                       scratch.paths[static_cast<size_t>(ends.back())].id == options_.unknown;
    if (!fused) ends.push_back(end);
    end = path.begin;
  }
  size_t begin = 0;
  for (size_t k = ends.size(); k-- > 0;) {
    const auto end = static_cast<size_t>(ends[k]);
    append(piece.substr(begin, end - begin), scratch.paths[end].id, ids);
    begin = end;
  }
  return {};
}

}  // namespace lumen::text
