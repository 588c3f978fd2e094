// ObjectCache: compiled objects on disk, found again by the content they were made from.
//
// An entry is the object followed by a trailer of 40 bytes: magic, key, size, checksum. It is written to a temporary
// file, synced and renamed, so that an entry is whole or absent, whatever is killed when, and however many processes
// work in the folder at once. What is read is checked; an entry that is not as it was written is deleted and counts as
// absent. Loaders of shared libraries do not mind the trailer.
//
// A folder that cannot be written (read-only, disk full) is said once, in one log line, and nothing is kept from then
// on; what is there is still found. Safe to use from several threads.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "lumen/base/expected.h"

namespace lumen::cpu {

// 128 bits over everything that an object depends on.
struct CacheKey {
  std::array<uint64_t, 2> words{};

  static CacheKey of(std::string_view content);
  std::string hex() const;  // 32 digits
  bool operator==(const CacheKey&) const = default;
};

class ObjectCache {
 public:
  // `folder` is made when it is first needed; empty for a cache that keeps nothing.
  ObjectCache(std::string folder, int64_t most_bytes);
  // LUMEN_CACHE and LUMEN_CACHE_MB.
  static std::shared_ptr<ObjectCache> from_flags();

  // The file of this object, checked and marked as used now; nothing when there is none.
  std::optional<std::string> find(const CacheKey& key);
  // The object in such a file.
  static Expected<std::string> read(const std::string& file);
  // Keeps `object` and returns its file; nothing when it cannot be kept. May remove what was not used for longest.
  std::optional<std::string> store(const CacheKey& key, std::string_view object);
  // Forgets an entry that turned out to be of no use.
  void drop(const CacheKey& key);

  const std::string& folder() const { return folder_; }

 private:
  std::string file_of(const CacheKey& key) const;
  bool write_entry(const CacheKey& key, std::string_view object);
  void give_up(const std::string& what, int reason);
  void make_room(int64_t bytes);

  std::string folder_;
  int64_t most_bytes_;
  std::mutex mutex_;
  bool writable_ = true;
  int64_t known_bytes_ = -1;  // what the folder held at the last look and was added since; -1 before the first
  int stores_since_look_ = 0;
};

}  // namespace lumen::cpu
