// GrowArray: a vector of plain data for large tables. Growing does not copy large arrays, new elements are not
// initialised, the data starts at a cache line, and memory is asked of the system in steps rather than page by page.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

namespace lumen::egraph {

// A small block is of malloc; a large one a mapping that reserves more addresses than it uses, to grow in place.
struct Block {
  void* data = nullptr;
  size_t ready = 0;      // bytes that may be used
  size_t reserved = 0;   // bytes of addresses; 0: a small block
  size_t populated = 0;  // bytes that the system was asked for ahead of their use

  // At least `bytes` become ready; of what was there `used` bytes are kept.
  void grow(size_t bytes, size_t used);
  void release();
  // In place of what was there: at least `bytes`, all zero.
  void reset_to_zero(size_t bytes);
  // Bytes that are ready get their memory now, rather than when they are touched; so many pieces, in any order.
  size_t pieces_to_populate() const;
  void populate(size_t piece) const;
};

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
    if (size_ > 0) std::memcpy(block_.data, other.block_.data, size_ * sizeof(T));
    return *this;
  }
  GrowArray& operator=(GrowArray&& other) noexcept {
    swap(other);
    return *this;
  }
  ~GrowArray() { block_.release(); }

  size_t size() const { return size_; }
  size_t bytes() const { return block_.ready; }
  T* data() { return static_cast<T*>(block_.data); }
  const T* data() const { return static_cast<const T*>(block_.data); }
  T& operator[](size_t i) { return data()[i]; }
  const T& operator[](size_t i) const { return data()[i]; }

  void push_back(T value) { *append(1) = value; }
  // Memory for `count` more at the end, which are not there yet; returns where they would start.
  T* room(size_t count) {
    if ((size_ + count) * sizeof(T) > block_.ready) block_.grow((size_ + count) * sizeof(T), size_ * sizeof(T));
    return data() + size_;
  }
  // `count` more at the end, not initialised; returns where they start.
  T* append(size_t count) {
    T* at = room(count);
    size_ += count;
    return at;
  }
  // New elements are not initialised.
  void resize(size_t size) {
    if (size > size_) {
      append(size - size_);
    } else {
      size_ = size;
    }
  }
  // New elements are `fill`.
  void resize(size_t size, T fill) {
    const size_t old = size_;
    resize(size);
    for (size_t i = old; i < size; ++i) data()[i] = fill;
  }
  // Gets what is ready its memory, by several threads: workers.run(pieces, work). The system clears a huge page when it
  // is touched, which takes longer than what most threads have to do between two times they wait for each other.
  template <class Workers>
  void populate(Workers& workers) {
    const size_t pieces = block_.pieces_to_populate();
    if (pieces == 0) return;
    workers.run(pieces, [this](size_t piece) { block_.populate(piece); });
    block_.populated = block_.ready;
  }
  // `size` elements whose bytes are all zero.
  void reset_to_zero(size_t size) {
    block_.reset_to_zero(size * sizeof(T));
    size_ = size;
  }
  void clear() {
    block_.release();
    size_ = 0;
  }

 private:
  void swap(GrowArray& other) noexcept {
    std::swap(block_, other.block_);
    std::swap(size_, other.size_);
  }

  Block block_;
  size_t size_ = 0;
};

}  // namespace lumen::egraph
