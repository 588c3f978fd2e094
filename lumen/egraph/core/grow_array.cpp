#include "lumen/egraph/core/grow_array.h"

#include <sys/mman.h>

#include <cstdlib>

namespace lumen::egraph {

void* grow_block(void* block, size_t bytes) {
  void* grown = std::realloc(block, bytes);
  if (grown == nullptr) throw std::bad_alloc();
  constexpr size_t kHuge = size_t{2} << 20;
  if (bytes >= 4 * kHuge) {
    const uintptr_t begin = (reinterpret_cast<uintptr_t>(grown) + kHuge - 1) & ~(kHuge - 1);
    const uintptr_t end = (reinterpret_cast<uintptr_t>(grown) + bytes) & ~(kHuge - 1);
    if (end > begin) madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);
  }
  return grown;
}

void free_block(void* block) { std::free(block); }

}  // namespace lumen::egraph
