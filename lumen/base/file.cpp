#include "lumen/base/file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <system_error>
#include <utility>

namespace lumen {

namespace {

// Before anything else can change errno.
Diag failed(std::string_view what, std::string_view path) {
  const std::string reason = std::generic_category().message(errno);
  return error(fmt::format("{}: cannot {}: {}", path, what, reason));
}

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  int get() const { return fd_; }

 private:
  int fd_;
};

}  // namespace

Diag file_error(std::string_view path, std::string_view text) { return error(fmt::format("{}: {}", path, text)); }

Expected<MappedFile> MappedFile::open(const std::string& path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) return failed("open", path);
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) return failed("read", path);
  if (!S_ISREG(status.st_mode)) return error(fmt::format("{}: not a file", path));
  const auto size = static_cast<size_t>(status.st_size);
  if (size == 0) return MappedFile({});
  void* at = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.get(), 0);
  if (at == MAP_FAILED) return failed("map", path);
  return MappedFile({static_cast<const std::byte*>(at), size});
}

MappedFile::MappedFile(MappedFile&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(bytes_, other.bytes_);
  return *this;
}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

FileWriter::FileWriter(std::string path, std::string temporary, int fd)
    : path_(std::move(path)), temporary_(std::move(temporary)), fd_(fd) {}

FileWriter::FileWriter(FileWriter&& other) noexcept
    : path_(std::move(other.path_)),
      temporary_(std::exchange(other.temporary_, {})),
      fd_(std::exchange(other.fd_, -1)) {}

FileWriter::~FileWriter() {
  if (fd_ >= 0) ::close(fd_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

Expected<FileWriter> FileWriter::create(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode)) {
    const int device = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
    if (device < 0) return failed("write", path);
    return FileWriter(path, "", device);
  }
  std::string temporary;
  int fd = -1;
  for (int k = 0; fd < 0 && (k == 0 || errno == EEXIST); ++k) {
    temporary = fmt::format("{}.{}.{}.tmp", path, ::getpid(), k);
    fd = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  }
  if (fd < 0) return failed("write", path);
  return FileWriter(path, std::move(temporary), fd);
}

Expected<void> FileWriter::write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return failed("write", path_);
    bytes = bytes.subspan(static_cast<size_t>(written));
  }
  return {};
}

Expected<void> FileWriter::commit() {
  if (::close(std::exchange(fd_, -1)) != 0) return failed("write", path_);
  if (temporary_.empty()) return {};
  if (std::rename(temporary_.c_str(), path_.c_str()) != 0) return failed("replace", path_);
  temporary_.clear();
  return {};
}

Expected<void> write_file(const std::string& path, std::span<const std::span<const std::byte>> parts) {
  FileWriter file = LUMEN_TRY(FileWriter::create(path));
  for (const std::span<const std::byte> part : parts) LUMEN_TRY(file.write(part));
  return file.commit();
}

}  // namespace lumen
