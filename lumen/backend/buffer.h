// Buffer: bytes at an address that suits every vector instruction and page-sized copies, in some Memory.
#pragma once

#include "lumen/backend/memory.h"

namespace lumen {

class Buffer {
 public:
  static constexpr size_t kAlign = 64;

  Buffer() = default;
  // Zeros, on the host.
  explicit Buffer(int64_t bytes);
  // Zeros.
  static Expected<Buffer> make(std::shared_ptr<Memory> memory, int64_t bytes);

  std::byte* data() const { return data_.get(); }
  int64_t bytes() const { return bytes_; }

 private:
  struct Release {
    std::shared_ptr<Memory> memory;
    void operator()(std::byte* data) const { memory->release(data); }
  };
  std::unique_ptr<std::byte, Release> data_;
  int64_t bytes_ = 0;
};

// While one lives, large blocks of the host's memory that are released are kept for buffers to come, up to some: pages
// that the system gives anew cost more than many a kernel that is timed in them.
class KeepReleased {
 public:
  KeepReleased();
  ~KeepReleased();
  KeepReleased(const KeepReleased&) = delete;
  KeepReleased& operator=(const KeepReleased&) = delete;
};

}  // namespace lumen
