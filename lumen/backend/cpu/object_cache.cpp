#include "lumen/backend/cpu/object_cache.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <vector>

#include "lumen/backend/cpu/work_dir.h"
#include "lumen/base/flags.h"
#include "lumen/base/hash.h"
#include "lumen/base/log.h"

namespace lumen::cpu {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kMagic = "LumenObj";
constexpr std::string_view kSuffix = ".so";
constexpr std::string_view kTemporary = "tmp-";
constexpr size_t kTrailerBytes = 40;
constexpr int kStoresBetweenLooks = 64;  // other processes add entries, too
constexpr auto kTemporaryLife = std::chrono::hours(1);

std::string trailer(const CacheKey& key, std::string_view object) {
  std::string text(kMagic);
  for (uint64_t word : {key.words[0], key.words[1], uint64_t{object.size()}, hash_bytes(object)}) {
    for (int byte = 0; byte < 8; ++byte, word >>= 8) text.push_back(static_cast<char>(word & 0xff));
  }
  return text;
}

bool is_whole(const CacheKey& key, std::string_view file) {
  if (file.size() < kTrailerBytes) return false;
  const std::string_view object = file.substr(0, file.size() - kTrailerBytes);
  return file.substr(object.size()) == trailer(key, object);
}

bool write_all(int file, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(file, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return true;
}

// The whole file, when it is a plain one of ours or of the administrator: what is in it will be executed.
std::optional<std::string> read_trusted(const std::string& path) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  if (file < 0) return {};
  struct stat info {};
  std::string bytes;
  bool good = fstat(file, &info) == 0 && S_ISREG(info.st_mode) && (info.st_uid == geteuid() || info.st_uid == 0);
  if (good) bytes.resize(static_cast<size_t>(info.st_size));
  for (size_t done = 0; good && done < bytes.size();) {
    const ssize_t got = read(file, bytes.data() + done, bytes.size() - done);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) good = false;
    if (got > 0) done += static_cast<size_t>(got);
  }
  close(file);
  if (!good) return {};
  return bytes;
}

struct Entry {
  fs::path path;
  int64_t bytes;
  fs::file_time_type used;
};

// The entries, oldest first; removes temporary files that a killed process left behind.
std::vector<Entry> look(const std::string& folder) {
  std::vector<Entry> entries;
  std::error_code failed;
  for (fs::directory_iterator it(folder, failed), end; !failed && it != end; it.increment(failed)) {
    std::error_code gone;  // another process may remove any of them at any time
    Entry entry{it->path(), static_cast<int64_t>(it->file_size(gone)), it->last_write_time(gone)};
    if (gone) continue;
    if (entry.path.filename().string().starts_with(kTemporary)) {
      if (fs::file_time_type::clock::now() - entry.used > kTemporaryLife) fs::remove(entry.path, gone);
    } else if (entry.path.extension() == kSuffix) {
      entries.push_back(std::move(entry));
    }
  }
  std::ranges::sort(
      entries, [](const Entry& a, const Entry& b) { return a.used != b.used ? a.used < b.used : a.path < b.path; });
  return entries;
}

}  // namespace

CacheKey CacheKey::of(std::string_view content) {
  // The second half starts from another state, so that the two do not collide together.
  return {{hash_bytes(content), hash_bytes("lumen object " + std::string(content))}};
}

std::string CacheKey::hex() const { return fmt::format("{:016x}{:016x}", words[0], words[1]); }

ObjectCache::ObjectCache(std::string folder, int64_t most_bytes)
    : folder_(std::move(folder)), most_bytes_(most_bytes) {}

std::shared_ptr<ObjectCache> ObjectCache::from_flags() {
  const std::string folder = flags().cache_folder();
  return std::make_shared<ObjectCache>(folder.empty() ? folder : folder + "/cpu", flags().cache_mb << 20);
}

std::string ObjectCache::file_of(const CacheKey& key) const { return folder_ + "/" + key.hex() + std::string(kSuffix); }

Expected<std::string> ObjectCache::read(const std::string& file) {
  std::string bytes = LUMEN_TRY(read_file(file));
  if (bytes.size() < kTrailerBytes) return error(file + " is cut off");
  bytes.resize(bytes.size() - kTrailerBytes);
  return bytes;
}

std::optional<std::string> ObjectCache::find(const CacheKey& key) {
  if (folder_.empty()) return {};
  std::string path = file_of(key);
  const auto bytes = read_trusted(path);
  if (!bytes) return {};
  if (!is_whole(key, *bytes)) {
    LUMEN_LOG(2, fmt::format("{} is damaged; it is made again", path));
    drop(key);
    return {};
  }
  utimensat(AT_FDCWD, path.c_str(), nullptr, 0);  // used now; in a read-only folder it stays as it was
  return path;
}

void ObjectCache::drop(const CacheKey& key) {
  if (!folder_.empty()) unlink(file_of(key).c_str());
}

std::optional<std::string> ObjectCache::store(const CacheKey& key, std::string_view object) {
  const std::scoped_lock lock(mutex_);
  const auto bytes = static_cast<int64_t>(object.size() + kTrailerBytes);
  if (folder_.empty() || !writable_ || bytes > most_bytes_) return {};
  std::error_code failed;
  fs::create_directories(folder_, failed);
  if (failed) {
    give_up("make " + folder_, failed.value());
    return {};
  }
  make_room(bytes);
  if (!write_entry(key, object)) return {};
  known_bytes_ += bytes;
  return file_of(key);
}

bool ObjectCache::write_entry(const CacheKey& key, std::string_view object) {
  std::string temporary = folder_ + "/" + std::string(kTemporary) + "XXXXXX";
  const int file = mkostemp(temporary.data(), O_CLOEXEC);
  if (file < 0) {
    give_up("write in " + folder_, errno);
    return false;
  }
  bool good = write_all(file, object) && write_all(file, trailer(key, object)) && fsync(file) == 0;
  int reason = good ? 0 : errno;
  if (close(file) != 0 && good) {
    good = false;
    reason = errno;
  }
  if (good && rename(temporary.c_str(), file_of(key).c_str()) != 0) {
    good = false;
    reason = errno;
  }
  if (!good) {
    unlink(temporary.c_str());
    give_up("write in " + folder_, reason);
  }
  return good;
}

void ObjectCache::give_up(const std::string& what, int reason) {
  writable_ = false;
  log_line(0, fmt::format("compiled kernels are not kept: cannot {}: {}", what, strerror(reason)));
}

void ObjectCache::make_room(int64_t bytes) {
  const bool look_again = known_bytes_ < 0 || ++stores_since_look_ >= kStoresBetweenLooks;
  if (!look_again && known_bytes_ + bytes <= most_bytes_) return;
  stores_since_look_ = 0;
  const std::vector<Entry> entries = look(folder_);
  known_bytes_ = 0;
  for (const Entry& entry : entries) known_bytes_ += entry.bytes;
  if (known_bytes_ + bytes <= most_bytes_) return;
  // A tenth more than needed, so that a full cache does not look at every store.
  const int64_t goal = most_bytes_ - most_bytes_ / 10;
  for (const Entry& entry : entries) {
    if (known_bytes_ == 0 || known_bytes_ + bytes <= goal) break;
    std::error_code gone;
    fs::remove(entry.path, gone);
    known_bytes_ -= entry.bytes;
  }
}

}  // namespace lumen::cpu
