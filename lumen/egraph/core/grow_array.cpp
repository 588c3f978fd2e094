#include "lumen/egraph/core/grow_array.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <new>

namespace lumen::egraph {

namespace {

constexpr size_t kLine = 64;
constexpr size_t kMapped = size_t{256} << 10;  // blocks from this size on are mappings
constexpr size_t kRoom = 4;                    // addresses reserved, as a multiple of what is needed
constexpr size_t kHuge = size_t{2} << 20;
constexpr size_t kHugeFrom = kHuge;  // ready bytes from which on huge pages are used

size_t round_up(size_t bytes, size_t unit) { return (bytes + unit - 1) / unit * unit; }

void* allocate_small(size_t bytes) {
  void* data = std::aligned_alloc(kLine, bytes);
  if (data == nullptr) throw std::bad_alloc();
  return data;
}

// Addresses for `times` the bytes; just what is needed when the system does not give more than that.
void map(Block& block, size_t bytes, size_t times) {
  constexpr int kFlags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
  for (const size_t reserved : {round_up(times * bytes, kHuge), round_up(bytes, kMapped)}) {
    void* data = block.reserved == 0 ? mmap(nullptr, reserved, PROT_READ | PROT_WRITE, kFlags, -1, 0)
                                     : mremap(block.data, block.reserved, reserved, MREMAP_MAYMOVE);
    if (data == MAP_FAILED) continue;
    block.data = data;
    block.reserved = reserved;
    return;
  }
  throw std::bad_alloc();
}

// Gets the memory at once: page faults would cost several times as much (older systems cannot, and fault). Huge pages
// come when they are touched, which several threads may do at a time.
void make_ready(Block& block, size_t bytes) {
  if (bytes <= kHugeFrom) {
    madvise(static_cast<char*>(block.data) + block.ready, bytes - block.ready, MADV_POPULATE_WRITE);
  } else if (block.ready <= kHugeFrom) {
    madvise(block.data, block.reserved, MADV_HUGEPAGE);  // all of it: a mapping advised in parts cannot be remapped
  }
  block.ready = bytes;
}

}  // namespace

void Block::grow(size_t bytes, size_t used) {
  if (bytes < kMapped) {
    const size_t room = std::min(kMapped, round_up(std::max(bytes, ready + ready / 2), kLine));
    void* grown = allocate_small(room);
    if (used > 0) std::memcpy(grown, data, used);
    std::free(data);
    data = grown;
    ready = room;
    return;
  }
  const size_t wanted = round_up(std::max(bytes, ready + ready / 8), kMapped);
  if (reserved == 0) {
    Block mapped;
    map(mapped, wanted, kRoom);
    make_ready(mapped, wanted);
    if (used > 0) std::memcpy(mapped.data, data, used);
    std::free(data);
    *this = mapped;
    return;
  }
  if (wanted > reserved) map(*this, wanted, kRoom);
  make_ready(*this, wanted);
}

void Block::release() {
  if (reserved == 0) {
    std::free(data);
  } else {
    munmap(data, reserved);
  }
  *this = Block{};
}

size_t Block::pieces_to_populate() const {
  return ready > std::max(populated, kHugeFrom) ? round_up(ready - populated, kHuge) / kHuge : 0;
}

void Block::populate(size_t piece) const {
  const size_t from = populated + piece * kHuge;
  madvise(static_cast<char*>(data) + from, std::min(kHuge, ready - from), MADV_POPULATE_WRITE);
}

void Block::reset_to_zero(size_t bytes) {
  release();
  if (bytes < kMapped) {
    ready = round_up(bytes, kLine);
    data = allocate_small(ready);
    std::memset(data, 0, ready);
    return;
  }
  map(*this, bytes, 1);
  make_ready(*this, std::min(reserved, round_up(bytes, kLine)));
}

}  // namespace lumen::egraph
