// GrowArray: a vector of plain data for large tables. Growing does not copy (realloc moves pages of large blocks), new
// elements are not initialised, and large blocks ask for huge pages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <type_traits>
#include <utility>

namespace lumen::egraph {

// Grows or frees a block of malloc; asks for huge pages when it is large.
void* grow_block(void* block, size_t bytes);
void free_block(void* block);

template <class T>
class GrowArray {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  GrowArray() = default;
  GrowArray(const GrowArray& other) { *this = other; }
  GrowArray(GrowArray&& other) noexcept { swap(other); }
  GrowArray& operator=(const GrowArray& other) {
    if (this == &other) return *this;
    resize(other.size_);
    if (size_ > 0) std::memcpy(data_, other.data_, size_ * sizeof(T));
    return *this;
  }
  GrowArray& operator=(GrowArray&& other) noexcept {
    swap(other);
    return *this;
  }
  ~GrowArray() { free_block(data_); }

  size_t size() const { return size_; }
  size_t bytes() const { return capacity_ * sizeof(T); }
  T* data() { return data_; }
  const T* data() const { return data_; }
  T& operator[](size_t i) { return data_[i]; }
  const T& operator[](size_t i) const { return data_[i]; }

  void push_back(T value) {
    if (size_ == capacity_) reserve(size_ + 1);
    data_[size_++] = value;
  }
  // Room for `count` more at the end; returns where they start.
  T* append(size_t count) {
    if (size_ + count > capacity_) reserve(size_ + count);
    T* at = data_ + size_;
    size_ += count;
    return at;
  }
  // New elements are not initialised.
  void resize(size_t size) {
    if (size > capacity_) reserve(size);
    size_ = size;
  }
  // New elements are `fill`.
  void resize(size_t size, T fill) {
    const size_t old = size_;
    resize(size);
    for (size_t i = old; i < size; ++i) data_[i] = fill;
  }
  void clear() {
    free_block(data_);
    data_ = nullptr;
    size_ = capacity_ = 0;
  }

 private:
  void reserve(size_t size) {
    size_t capacity = capacity_ + capacity_ / 2 < size ? size : capacity_ + capacity_ / 2;
    if (capacity < 8) capacity = 8;
    data_ = static_cast<T*>(grow_block(data_, capacity * sizeof(T)));
    capacity_ = capacity;
  }
  void swap(GrowArray& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
  }

  T* data_ = nullptr;
  size_t size_ = 0;
  size_t capacity_ = 0;
};

}  // namespace lumen::egraph
