#include "lumen/backend/buffer.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>

namespace lumen {

namespace {

// What is larger than a few huge pages lies in such, where the system has them: what walks over a large matrix looks up
// 512 times as few of them, twice over in a virtual machine.
constexpr size_t kHugePage = size_t{2} << 20, kSomePages = 4 * kHugePage;

class HostMemory : public Memory {
 public:
  bool is_host() const override { return true; }
  Expected<std::byte*> allocate(int64_t bytes) override {
    const size_t align = static_cast<size_t>(bytes) < kSomePages ? Buffer::kAlign : kHugePage;
    const size_t rounded = (static_cast<size_t>(bytes) / Buffer::kAlign + 1) * Buffer::kAlign;
    void* data = nullptr;
    if (posix_memalign(&data, align, rounded) != 0) throw std::bad_alloc();
    if (align == kHugePage) madvise(data, rounded, MADV_HUGEPAGE);  // a wish: it may fail
    std::memset(data, 0, rounded);
    return static_cast<std::byte*>(data);
  }
  void release(std::byte* data) override { std::free(data); }
  Expected<void> write(void* there, const void* here, int64_t bytes) override {
    std::memcpy(there, here, static_cast<size_t>(bytes));
    return {};
  }
  Expected<void> read(void* here, const void* there, int64_t bytes) override { return write(here, there, bytes); }
  Expected<void> repeat(void* there, int64_t period, int64_t bytes) override {
    auto* const data = static_cast<std::byte*>(there);
    for (int64_t done = period; done > 0 && done < bytes; done *= 2) {
      std::memcpy(data + done, data, static_cast<size_t>(std::min(done, bytes - done)));
    }
    return {};
  }
};

}  // namespace

const std::shared_ptr<Memory>& host_memory() {
  static const std::shared_ptr<Memory> memory = std::make_shared<HostMemory>();
  return memory;
}

Expected<Buffer> Buffer::make(std::shared_ptr<Memory> memory, int64_t bytes) {
  Buffer buffer;
  std::byte* const data = LUMEN_TRY(memory->allocate(bytes));
  buffer.data_ = std::unique_ptr<std::byte, Release>(data, Release{std::move(memory)});
  buffer.bytes_ = bytes;
  return buffer;
}

Buffer::Buffer(int64_t bytes) : Buffer(std::move(make(host_memory(), bytes)).value()) {}

}  // namespace lumen
