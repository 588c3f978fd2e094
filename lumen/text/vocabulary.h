// Vocabulary: texts and their ids. Ids may have gaps; a text may have several ids, of which the first added is found.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "lumen/base/arena.h"
#include "lumen/base/expected.h"
#include "lumen/base/hash.h"

namespace lumen::text {

struct TextHash {
  using is_avalanching = void;
  using is_transparent = void;
  size_t operator()(std::string_view text) const { return hash_bytes(text); }
};

class Vocabulary {
 public:
  static constexpr int64_t kMaxId = 1 << 24;

  // An error when the id is out of range or taken.
  Expected<void> add(int64_t id, std::string_view text);
  // Under the next id.
  int32_t append(std::string_view text);

  std::optional<int32_t> find(std::string_view text) const {
    const auto found = ids_.find(text);
    return found == ids_.end() ? std::nullopt : std::optional(found->second);
  }
  bool has(int64_t id) const { return id >= 0 && id < size() && texts_[static_cast<size_t>(id)].data() != nullptr; }
  // Empty when there is none.
  std::string_view text(int64_t id) const { return has(id) ? texts_[static_cast<size_t>(id)] : std::string_view(); }
  // One above the largest id.
  int32_t size() const { return static_cast<int32_t>(texts_.size()); }

 private:
  Arena arena_;
  std::vector<std::string_view> texts_;
  boost::unordered_flat_map<std::string_view, int32_t, TextHash> ids_;
};

}  // namespace lumen::text
