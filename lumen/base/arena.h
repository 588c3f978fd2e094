// Arena: a bump allocator. Memory comes from chunks that double from 4 KiB to 1 MiB and is freed all at once when
// the Arena dies; pointers stay valid until then, also after the Arena is moved. Not thread-safe.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace lumen {

class Arena {
 public:
  Arena() = default;
  Arena(Arena&& other) noexcept { swap(other); }
  Arena& operator=(Arena&& other) noexcept {
    Arena(std::move(other)).swap(*this);
    return *this;
  }

  // Uninitialised memory; `align` is a power of two. Zero bytes give a valid, unique-enough pointer.
  void* allocate(size_t bytes, size_t align = alignof(std::max_align_t)) {
    const uintptr_t at = (reinterpret_cast<uintptr_t>(next_) + align - 1) & ~(uintptr_t{align} - 1);
    if (next_ == nullptr || at > end() || bytes > end() - at) return allocate_in_new_chunk(bytes, align);
    std::byte* result = next_ + (at - reinterpret_cast<uintptr_t>(next_));
    next_ = result + bytes;
    bytes_ += bytes;
    return result;
  }

  // Nothing runs T's destructor, so T must not need one.
  template <class T, class... Args>
  T* make(Args&&... args) {
    static_assert(std::is_trivially_destructible_v<T>, "an Arena never runs destructors");
    return ::new (allocate(sizeof(T), alignof(T))) T{std::forward<Args>(args)...};
  }

  template <class T>
  std::span<T> copy(std::span<const T> values) {
    static_assert(std::is_trivially_destructible_v<T>, "an Arena never runs destructors");
    if (values.empty()) return {};
    T* first = static_cast<T*>(allocate(values.size_bytes(), alignof(T)));
    std::uninitialized_copy(values.begin(), values.end(), first);
    return {first, values.size()};
  }
  std::string_view copy(std::string_view text) {
    const std::span<char> chars = copy(std::span<const char>(text.data(), text.size()));
    return {chars.data(), chars.size()};
  }

  // The sum of what was asked for.
  size_t bytes() const { return bytes_; }
  // What the chunks hold, used or not.
  size_t capacity() const { return capacity_; }

 private:
  void* allocate_in_new_chunk(size_t bytes, size_t align);
  void swap(Arena& other) noexcept;
  uintptr_t end() const { return reinterpret_cast<uintptr_t>(end_); }

  std::vector<std::unique_ptr<std::byte[]>> chunks_;
  std::byte* next_ = nullptr;  // free space of the last chunk: [next_, end_)
  std::byte* end_ = nullptr;
  size_t bytes_ = 0;
  size_t capacity_ = 0;
  size_t next_chunk_ = 4096;
};

}  // namespace lumen
