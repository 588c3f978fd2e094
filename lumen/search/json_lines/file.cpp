#include "lumen/search/json_lines/file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <system_error>

namespace lumen::search {

namespace {

// Before anything else can change errno.
Diag failed(std::string_view what, const std::string& path) {
  const std::string reason = std::generic_category().message(errno);
  return error(fmt::format("{}: cannot {}: {}", path, what, reason));
}

class Descriptor {
 public:
  Descriptor(const std::string& path, int flags) : fd_(::open(path.c_str(), flags | O_CLOEXEC, 0666)) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

bool write_at(int fd, std::string_view text, size_t offset) {
  while (!text.empty()) {
    const ssize_t count = ::pwrite(fd, text.data(), text.size(), static_cast<off_t>(offset));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return false;
    text.remove_prefix(static_cast<size_t>(count));
    offset += static_cast<size_t>(count);
  }
  return true;
}

}  // namespace

Expected<std::optional<std::string>> read_from(const std::string& path, size_t offset) {
  const Descriptor file(path, O_RDONLY);
  struct stat status {};
  if (file.get() < 0 || ::fstat(file.get(), &status) != 0) return failed("read", path);
  const auto size = static_cast<size_t>(status.st_size);
  if (size < offset) return std::optional<std::string>();
  std::string text(size - offset, '\0');
  for (size_t done = 0; done < text.size();) {
    const ssize_t count =
        ::pread(file.get(), text.data() + done, text.size() - done, static_cast<off_t>(offset + done));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return failed("read", path);
    if (count == 0) return std::optional<std::string>();
    done += static_cast<size_t>(count);
  }
  return std::optional(std::move(text));
}

Expected<void> append_lines(const std::string& path, std::string_view lines, size_t& offset) {
  const Descriptor file(path, O_WRONLY);
  if (file.get() < 0 || ::ftruncate(file.get(), static_cast<off_t>(offset)) != 0) return failed("write", path);
  if (!write_at(file.get(), lines, offset)) {
    Diag diag = failed("write", path);
    // Should this fail too, an unfinished line is left, which the next writer cuts off.
    static_cast<void>(::ftruncate(file.get(), static_cast<off_t>(offset)) == 0);
    return diag;
  }
  offset += lines.size();
  return {};
}

Expected<void> replace_file(const std::string& path, std::string_view text) {
  const std::string temporary = path + ".new";  // one name is enough: the caller holds the lock
  {
    const Descriptor file(temporary, O_WRONLY | O_CREAT | O_TRUNC);
    if (file.get() < 0) return failed("write", path);
    if (!write_at(file.get(), text, 0)) {
      Diag diag = failed("write", path);
      ::unlink(temporary.c_str());
      return diag;
    }
  }
  if (std::rename(temporary.c_str(), path.c_str()) == 0) return {};
  Diag diag = failed("replace", path);
  ::unlink(temporary.c_str());
  return diag;
}

}  // namespace lumen::search
