#include "lumen/backend/buffer.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <new>
#include <vector>

namespace lumen {

namespace {

// What is larger than a few huge pages lies in such, where the system has them: what walks over a large matrix looks up
// 512 times as few of them, twice over in a virtual machine.
constexpr size_t kHugePage = size_t{2} << 20, kSomePages = 4 * kHugePage;
constexpr size_t kMostKept = size_t{512} << 20;

// Blocks of whole huge pages, straight from the system.
class LargeBlocks {
 public:
  // Zeros.
  std::byte* take(size_t bytes) {
    const size_t size = (bytes + kHugePage - 1) / kHugePage * kHugePage;
    if (std::byte* const kept = take_kept(size)) {
      std::memset(kept, 0, bytes);
      return kept;
    }
    void* const mapped = mmap(nullptr, size + kHugePage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED) throw std::bad_alloc();
    auto* const begin = static_cast<std::byte*>(mapped);
    const size_t before = (kHugePage - reinterpret_cast<uintptr_t>(begin) % kHugePage) % kHugePage;
    if (before > 0) munmap(begin, before);
    munmap(begin + before + size, kHugePage - before);
    madvise(begin + before, size, MADV_HUGEPAGE);  // a wish: it may fail
    const std::scoped_lock lock(mutex_);
    sizes_.emplace(begin + before, size);
    return begin + before;
  }
  // Whether it was one of these.
  bool give(std::byte* data) {
    const std::scoped_lock lock(mutex_);
    const auto found = sizes_.find(data);
    if (found == sizes_.end()) return false;
    kept_.push_back({data, found->second});
    kept_bytes_ += found->second;
    drop_until(keepers_ > 0 ? kMostKept : 0);
    return true;
  }
  void change_keepers(int by) {
    const std::scoped_lock lock(mutex_);
    keepers_ += by;
    if (keepers_ == 0) drop_until(0);
  }

 private:
  struct Block {
    std::byte* data;
    size_t size;
  };

  // The smallest that is not much too large.
  std::byte* take_kept(size_t size) {
    const std::scoped_lock lock(mutex_);
    auto best = kept_.end();
    for (auto each = kept_.begin(); each != kept_.end(); ++each) {
      const bool fits = each->size >= size && each->size <= 2 * size;
      if (fits && (best == kept_.end() || each->size < best->size)) best = each;
    }
    if (best == kept_.end()) return nullptr;
    std::byte* const data = best->data;
    kept_bytes_ -= best->size;
    kept_.erase(best);
    return data;
  }
  void drop_until(size_t most) {
    while (kept_bytes_ > most) {
      const Block oldest = kept_.front();
      kept_.erase(kept_.begin());
      kept_bytes_ -= oldest.size;
      sizes_.erase(oldest.data);
      munmap(oldest.data, oldest.size);
    }
  }

  std::mutex mutex_;
  std::map<std::byte*, size_t> sizes_;  // of all
  std::vector<Block> kept_;             // the oldest first
  size_t kept_bytes_ = 0;
  int keepers_ = 0;
};

class HostMemory : public Memory {
 public:
  bool is_host() const override { return true; }
  Expected<std::byte*> allocate(int64_t bytes) override {
    if (static_cast<size_t>(bytes) >= kSomePages) return blocks_.take(static_cast<size_t>(bytes));
    const size_t rounded = (static_cast<size_t>(bytes) / Buffer::kAlign + 1) * Buffer::kAlign;
    void* data = nullptr;
    if (posix_memalign(&data, Buffer::kAlign, rounded) != 0) throw std::bad_alloc();
    std::memset(data, 0, rounded);
    return static_cast<std::byte*>(data);
  }
  void release(std::byte* data) override {
    if (data != nullptr && !blocks_.give(data)) std::free(data);
  }
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
  void change_keepers(int by) { blocks_.change_keepers(by); }

 private:
  LargeBlocks blocks_;
};

const std::shared_ptr<HostMemory>& own_memory() {
  static const auto memory = std::make_shared<HostMemory>();
  return memory;
}

}  // namespace

const std::shared_ptr<Memory>& host_memory() {
  static const std::shared_ptr<Memory> memory = own_memory();
  return memory;
}

KeepReleased::KeepReleased() { own_memory()->change_keepers(1); }
KeepReleased::~KeepReleased() { own_memory()->change_keepers(-1); }

Expected<Buffer> Buffer::make(std::shared_ptr<Memory> memory, int64_t bytes) {
  Buffer buffer;
  std::byte* const data = LUMEN_TRY(memory->allocate(bytes));
  buffer.data_ = std::unique_ptr<std::byte, Release>(data, Release{std::move(memory)});
  buffer.bytes_ = bytes;
  return buffer;
}

Buffer::Buffer(int64_t bytes) : Buffer(std::move(make(host_memory(), bytes)).value()) {}

}  // namespace lumen
