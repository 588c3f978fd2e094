// WordCache: the ids of short pieces that came before. Of fixed size; a newer piece takes the place of an older one. It
// has no memory before a text is long enough to be worth it.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

namespace lumen::text {

class WordCache {
 public:
  // A text of so many bytes is to be encoded.
  void prepare(size_t bytes) {
    if (entries_.empty() && bytes >= kWorthIt) entries_.resize(kEntries);
  }

  // True, and the ids appended, when the piece is here.
  bool find(std::string_view piece, std::vector<int32_t>& ids) const {
    if (piece.size() > kMaxText || entries_.empty()) return false;
    const Entry& entry = entries_[slot(piece)];
    if (entry.size != piece.size() || std::memcmp(entry.text.data(), piece.data(), piece.size()) != 0) return false;
    ids.insert(ids.end(), entry.ids.begin(), entry.ids.begin() + entry.count);
    return true;
  }

  void add(std::string_view piece, std::span<const int32_t> ids) {
    if (piece.empty() || piece.size() > kMaxText || ids.size() > kMaxIds || entries_.empty()) return;
    Entry& entry = entries_[slot(piece)];
    entry.size = static_cast<uint8_t>(piece.size());
    entry.count = static_cast<uint8_t>(ids.size());
    std::copy(piece.begin(), piece.end(), entry.text.begin());
    std::copy(ids.begin(), ids.end(), entry.ids.begin());
  }

 private:
  static constexpr size_t kMaxText = 34;
  static constexpr size_t kMaxIds = 7;
  static constexpr size_t kWorthIt = 4096;
  static constexpr size_t kEntries = size_t{1} << 16;
  struct alignas(64) Entry {
    std::array<int32_t, kMaxIds> ids;
    std::array<char, kMaxText> text;
    uint8_t size = 0;  // 0: empty
    uint8_t count = 0;
  };
  static_assert(sizeof(Entry) == 64);

  // Never leaves the process, so it need not be the hash that files are keyed by.
  static size_t slot(std::string_view piece) {
    uint64_t state = piece.size();
    for (size_t at = 0; at < piece.size(); at += 8) {
      uint64_t word = 0;
      std::memcpy(&word, piece.data() + at, std::min<size_t>(8, piece.size() - at));
      state = (state ^ word) * 0x9e3779b97f4a7c15;
      state ^= state >> 29;
    }
    return (state * 0xe9846af9b1a615d) >> 48;
  }

  std::vector<Entry> entries_;
};

}  // namespace lumen::text
