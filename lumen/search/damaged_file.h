// What both engines do about files: a lock that processes share, and moving a damaged file aside.
#pragma once

#include <string>
#include <string_view>

#include "lumen/search/tuning_store.h"

namespace lumen::search {

// Holds the lock of the folder that `path` is in, waiting for it; it ends with the process however that ends. There is
// none for ":memory:" and where a file system has no locks.
class FolderLock {
 public:
  explicit FolderLock(const std::string& path);
  ~FolderLock();
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

 private:
  int fd_;
};

// Which file a path leads to now; all 0 when to none.
struct FileIdentity {
  uint64_t device = 0;
  uint64_t inode = 0;
  bool operator==(const FileIdentity&) const = default;
};
FileIdentity identify(const std::string& path);

// Renames `path` to PATH.damaged-N, the first that is free, and gives that name; an error says why it cannot be done.
// Call it with the lock held.
Expected<std::string> move_aside(const std::string& path);

// "PATH is damaged (why)", for OnDamage::refuse.
Diag refuse_damaged(const std::string& path, std::string_view why);
// The one line that says what became of a damaged file.
void log_moved(const std::string& path, std::string_view why, const std::string& moved_to, size_t saved);

}  // namespace lumen::search
