#include "lumen/search/damaged_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>

#include "lumen/base/log.h"

namespace lumen::search {

FolderLock::FolderLock(const std::string& path) : fd_(-1) {
  if (path == kMemory) return;
  const std::string folder = std::filesystem::path(path).parent_path().string();
  fd_ = ::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  while (fd_ >= 0 && ::flock(fd_, LOCK_EX) != 0 && errno == EINTR) {
  }
}

FolderLock::~FolderLock() {
  if (fd_ >= 0) ::close(fd_);
}

FileIdentity identify(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return {};
  return {status.st_dev, status.st_ino};
}

Expected<std::string> move_aside(const std::string& path) {
  for (int k = 1;; ++k) {
    const std::string name = fmt::format("{}.damaged-{}", path, k);
    struct stat status {};
    if (::lstat(name.c_str(), &status) == 0) continue;
    if (std::rename(path.c_str(), name.c_str()) == 0) return name;
    const std::string reason = std::generic_category().message(errno);
    return error(fmt::format("{}: damaged, and it cannot be moved aside: {}", path, reason));
  }
}

Diag refuse_damaged(const std::string& path, std::string_view why) {
  return error(fmt::format("{}: not a tuning database, or a damaged one: {}", path, why));
}

void log_moved(const std::string& path, std::string_view why, const std::string& moved_to, size_t saved) {
  log_line(0, fmt::format("tuning database {} was damaged ({}); it is now {}, and a fresh one has begun with the {} "
                          "entries that could be saved",
                          path, why, moved_to, saved));
}

Diag newer_schema(const std::string& path, int64_t version) {
  return error(
      fmt::format("{}: the tuning database has schema version {}, this program knows {}: use a newer lumen, or "
                  "another file (--db FILE, LUMEN_CACHE=FOLDER)",
                  path, version, kSchemaVersion));
}

}  // namespace lumen::search
