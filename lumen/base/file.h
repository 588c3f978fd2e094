// Whole files: mapped for reading, replaced atomically when written.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "lumen/base/expected.h"

namespace lumen {

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

// The file has all of the parts, one after another, or is as it was: they go to a new file beside it, which then takes
// its name.
Expected<void> write_file(const std::string& path, std::span<const std::span<const std::byte>> parts);

}  // namespace lumen
