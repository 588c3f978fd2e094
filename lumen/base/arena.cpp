#include "lumen/base/arena.h"

#include "lumen/base/check.h"

namespace lumen {
namespace {

constexpr size_t kLargestChunk = size_t{1} << 20;

}  // namespace

void* Arena::allocate_in_new_chunk(size_t bytes, size_t align) {
  CHECK(align > 0 && (align & (align - 1)) == 0, "an alignment is a power of two");
  CHECK(bytes <= SIZE_MAX - align, "an allocation of nearly all memory");
  const size_t needed = bytes + align - 1;
  const size_t size = std::max(needed, next_chunk_);
  // Not make_unique: that would zero the chunk.
  chunks_.emplace_back(new std::byte[size]);
  capacity_ += size;
  std::byte* start = chunks_.back().get();
  const size_t skip = (align - reinterpret_cast<uintptr_t>(start) % align) % align;
  bytes_ += bytes;
  // A chunk made for one large value keeps the roomier of the two as the current one.
  const size_t left_here = size - skip - bytes;
  if (next_ == nullptr || left_here >= static_cast<size_t>(end_ - next_)) {
    next_ = start + skip + bytes;
    end_ = start + size;
  }
  if (size == next_chunk_) next_chunk_ = std::min(next_chunk_ * 2, kLargestChunk);
  return start + skip;
}

void Arena::swap(Arena& other) noexcept {
  std::swap(chunks_, other.chunks_);
  std::swap(next_, other.next_);
  std::swap(end_, other.end_);
  std::swap(bytes_, other.bytes_);
  std::swap(capacity_, other.capacity_);
  std::swap(next_chunk_, other.next_chunk_);
}

}  // namespace lumen
