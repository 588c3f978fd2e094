// Whole files: mapped for reading, replaced atomically when written.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "lumen/base/expected.h"

namespace lumen {

// What is wrong with a file: `path: text`.
Diag file_error(std::string_view path, std::string_view text);

// A read-only mapping, for as long as the object lives.
class MappedFile {
 public:
  static Expected<MappedFile> open(const std::string& path);
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  ~MappedFile();
  std::span<const std::byte> bytes() const { return bytes_; }

 private:
  explicit MappedFile(std::span<const std::byte> bytes) : bytes_(bytes) {}
  std::span<const std::byte> bytes_;
};

// A file that is written piece by piece and appears, or replaces the one of that name, when all of it is there: until
// `commit` has succeeded everything goes to a new file beside it, which is removed if that never happens. What is no
// file (a pipe, a device) is written to as it is.
class FileWriter {
 public:
  static Expected<FileWriter> create(const std::string& path);
  FileWriter(FileWriter&& other) noexcept;
  FileWriter& operator=(FileWriter&& other) = delete;
  ~FileWriter();
  Expected<void> write(std::span<const std::byte> bytes);
  Expected<void> commit();  // nothing is written after it

 private:
  FileWriter(std::string path, std::string temporary, int fd);
  std::string path_;
  std::string temporary_;  // empty when nothing is to be removed or renamed
  int fd_;
};

// The file has all of the parts, one after another, or is as it was.
Expected<void> write_file(const std::string& path, std::span<const std::span<const std::byte>> parts);

}  // namespace lumen
