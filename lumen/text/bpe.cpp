#include "lumen/text/bpe.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "lumen/text/byte_level.h"
#include "lumen/text/utf8.h"

namespace lumen::text {

namespace {

constexpr uint32_t kNoRank = std::numeric_limits<uint32_t>::max();

uint64_t pair_key(int32_t left, int32_t right) {
  return static_cast<uint64_t>(static_cast<uint32_t>(left)) << 32 | static_cast<uint32_t>(right);
}

// For a heap whose top is the best.
bool worse(const MergeCandidate& a, const MergeCandidate& b) {
  return a.rank != b.rank ? a.rank > b.rank : a.left > b.left;
}

void add_symbol(Scratch& scratch, int32_t id, size_t begin, size_t size) {
  const auto index = static_cast<int32_t>(scratch.symbols.size());
  if (index > 0) scratch.symbols.back().after = index;
  scratch.symbols.push_back({id, static_cast<uint32_t>(begin), static_cast<uint32_t>(size), index - 1, -1});
}

}  // namespace

std::string byte_token(unsigned char byte) { return fmt::format("<0x{:02X}>", byte); }

std::optional<unsigned char> byte_of_token(std::string_view token) {
  const auto digit = [](char c) { return c >= '0' && c <= '9' ? c - '0' : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1; };
  if (token.size() != 6 || !token.starts_with("<0x") || token[5] != '>') return std::nullopt;
  if (digit(token[3]) < 0 || digit(token[4]) < 0) return std::nullopt;
  return static_cast<unsigned char>(digit(token[3]) * 16 + digit(token[4]));
}

Bpe::Bpe(std::shared_ptr<const Vocabulary> vocabulary, BpeOptions options)
    : vocabulary_(std::move(vocabulary)), options_(std::move(options)) {
  for (char32_t code = 0; code < kTable; ++code) {
    std::string text;
    append_utf8(text, code);
    character_ids_[code] = vocabulary_->find(text).value_or(-1);
  }
  for (unsigned byte = 0; byte < 256; ++byte) {
    byte_ids_[byte] = vocabulary_->find(byte_token(static_cast<unsigned char>(byte))).value_or(-1);
  }
}

Expected<std::unique_ptr<const Bpe>> Bpe::from_merges(
    std::shared_ptr<const Vocabulary> vocabulary, std::span<const std::pair<std::string_view, std::string_view>> merges,
    BpeOptions options) {
  std::unique_ptr<Bpe> bpe(new Bpe(std::move(vocabulary), std::move(options)));
  bpe->merges_.reserve(merges.size());
  uint32_t rank = 0;
  for (const auto& [left, right] : merges) {
    const size_t prefix = bpe->options_.continuing_prefix.size();
    if (right.size() < prefix) return error(fmt::format("merge \"{} {}\": the right side has no prefix", left, right));
    const std::string together = std::string(left) + std::string(right.substr(prefix));
    const std::optional<int32_t> left_id = bpe->vocabulary_->find(left);
    const std::optional<int32_t> right_id = bpe->vocabulary_->find(right);
    const std::optional<int32_t> id = bpe->vocabulary_->find(together);
    if (!left_id || !right_id || !id) {
      return error(fmt::format("merge \"{} {}\": \"{}\" is not in the vocabulary", left, right,
                               !left_id    ? left
                               : !right_id ? right
                                           : std::string_view(together)));
    }
    bpe->merges_.insert_or_assign(pair_key(*left_id, *right_id), Merge{rank++, *id});
  }
  return std::unique_ptr<const Bpe>(std::move(bpe));
}

std::unique_ptr<const Bpe> Bpe::from_scores(std::shared_ptr<const Vocabulary> vocabulary,
                                            std::span<const std::optional<float>> scores, BpeOptions options) {
  std::unique_ptr<Bpe> bpe(new Bpe(std::move(vocabulary), std::move(options)));
  std::vector<size_t> order;
  for (size_t id = 0; id < scores.size(); ++id) {
    if (scores[id]) order.push_back(id);
  }
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return *scores[a] > *scores[b]; });
  // Equal scores have equal ranks: then the leftmost pair is merged first.
  bpe->ranks_.assign(scores.size(), kNoRank);
  for (size_t k = 0; k < order.size(); ++k) {
    const bool same = k > 0 && *scores[order[k]] == *scores[order[k - 1]];
    bpe->ranks_[order[k]] = same ? bpe->ranks_[order[k - 1]] : static_cast<uint32_t>(k);
  }
  for (int32_t& id : bpe->character_ids_) {
    if (id >= 0 && bpe->ranks_[static_cast<size_t>(id)] == kNoRank) id = -1;
  }
  return bpe;
}

std::optional<int32_t> Bpe::find_character(std::string_view character, bool first, bool last) const {
  const bool prefixed = !first && !options_.continuing_prefix.empty();
  const bool suffixed = last && !options_.end_suffix.empty();
  if (prefixed || suffixed) {
    return vocabulary_->find((prefixed ? options_.continuing_prefix : "") + std::string(character) +
                             (suffixed ? options_.end_suffix : ""));
  }
  const Utf8Char c = utf8_at(character, 0);
  if (c.code < kTable) return character_ids_[c.code] < 0 ? std::nullopt : std::optional(character_ids_[c.code]);
  const std::optional<int32_t> id = vocabulary_->find(character);
  if (id && !ranks_.empty() && ranks_[static_cast<size_t>(*id)] == kNoRank) return std::nullopt;
  return id;
}

// As tokens of single bytes; false when some byte has none.
bool Bpe::add_bytes(std::string_view character, size_t at, Scratch& scratch) const {
  for (const char byte : character) {
    if (byte_ids_[static_cast<unsigned char>(byte)] < 0) return false;
  }
  for (const char byte : character) add_symbol(scratch, byte_ids_[static_cast<unsigned char>(byte)], at++, 1);
  return true;
}

void Bpe::make_symbols(std::string_view piece, Scratch& scratch) const {
  scratch.symbols.clear();
  std::optional<std::pair<size_t, size_t>> unknown;  // begin and size of what is to become one unknown token
  const auto flush = [&] {
    if (unknown) add_symbol(scratch, *options_.unknown, unknown->first, unknown->second);
    unknown.reset();
  };
  for (size_t at = 0; at < piece.size();) {
    const size_t size = utf8_size(piece, at);
    const std::string_view character = piece.substr(at, size);
    const std::optional<int32_t> id = find_character(character, at == 0, at + size == piece.size());
    if (id) {
      flush();
      add_symbol(scratch, *id, at, size);
    } else if (!ranks_.empty()) {
      add_symbol(scratch, -1, at, size);
    } else if (options_.byte_fallback && add_bytes(character, at, scratch)) {
      // An unknown character before it comes after it: so does Hugging Face.
    } else if (options_.unknown) {
      if (unknown && options_.fuse_unknown) {
        unknown->second += size;
      } else {
        flush();
        unknown = {at, size};
      }
    }
    at += size;
  }
  flush();
}

std::optional<Bpe::Merge> Bpe::find_merge(std::string_view piece, const Symbol& left, const Symbol& right) const {
  if (ranks_.empty()) {
    const auto found = merges_.find(pair_key(left.id, right.id));
    return found == merges_.end() ? std::nullopt : std::optional(found->second);
  }
  const std::optional<int32_t> id = vocabulary_->find(piece.substr(left.begin, left.size + right.size));
  if (!id || ranks_[static_cast<size_t>(*id)] == kNoRank) return std::nullopt;
  return Merge{ranks_[static_cast<size_t>(*id)], *id};
}

void Bpe::merge(std::string_view piece, Scratch& scratch) const {
  std::vector<Symbol>& symbols = scratch.symbols;
  std::vector<MergeCandidate>& queue = scratch.queue;
  queue.clear();
  const auto offer = [&](int32_t left) {
    if (left < 0 || symbols[static_cast<size_t>(left)].after < 0) return false;
    const Symbol& a = symbols[static_cast<size_t>(left)];
    const Symbol& b = symbols[static_cast<size_t>(a.after)];
    const std::optional<Merge> merge = find_merge(piece, a, b);
    if (merge) queue.push_back({merge->rank, static_cast<uint32_t>(left), a.size + b.size, merge->id});
    return merge.has_value();
  };
  for (size_t k = 0; k + 1 < symbols.size(); ++k) offer(static_cast<int32_t>(k));
  std::make_heap(queue.begin(), queue.end(), worse);
  while (!queue.empty()) {
    std::pop_heap(queue.begin(), queue.end(), worse);
    const MergeCandidate best = queue.back();
    queue.pop_back();
    Symbol& left = symbols[best.left];
    if (left.size == 0 || left.after < 0) continue;
    Symbol& right = symbols[static_cast<size_t>(left.after)];
    if (left.size + right.size != best.size) continue;
    left.id = best.id;
    left.size = best.size;
    left.after = right.after;
    right.size = 0;
    if (left.after >= 0) symbols[static_cast<size_t>(left.after)].before = static_cast<int32_t>(best.left);
    if (offer(left.before)) std::push_heap(queue.begin(), queue.end(), worse);
    if (offer(static_cast<int32_t>(best.left))) std::push_heap(queue.begin(), queue.end(), worse);
  }
}

void Bpe::append_ids(std::string_view piece, const Scratch& scratch, std::vector<int32_t>& ids) const {
  bool after_unknown = false;
  for (const Symbol& symbol : scratch.symbols) {
    if (symbol.size == 0) continue;
    if (symbol.id >= 0) {
      ids.push_back(symbol.id);
      after_unknown = false;
      continue;
    }
    const std::string_view bytes = piece.substr(symbol.begin, symbol.size);
    const bool all = options_.byte_fallback && std::all_of(bytes.begin(), bytes.end(), [&](char byte) {
                       return byte_ids_[static_cast<unsigned char>(byte)] >= 0;
                     });
    if (all) {
      for (const char byte : bytes) ids.push_back(byte_ids_[static_cast<unsigned char>(byte)]);
    } else if (options_.unknown && !(after_unknown && options_.fuse_unknown)) {
      ids.push_back(*options_.unknown);
    }
    after_unknown = !all;
  }
}

Expected<void> Bpe::encode(std::string_view piece, Scratch& scratch, std::vector<int32_t>& ids) const {
  if (options_.byte_level) {
    scratch.text.clear();
    append_byte_characters(scratch.text, piece);
    piece = scratch.text;
  }
  if (options_.ignore_merges) {
    if (const std::optional<int32_t> id = vocabulary_->find(piece)) {
      ids.push_back(*id);
      return {};
    }
  }
  make_symbols(piece, scratch);
  merge(piece, scratch);
  append_ids(piece, scratch, ids);
  return {};
}

}  // namespace lumen::text
