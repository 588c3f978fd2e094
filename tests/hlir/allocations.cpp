#include "tests/hlir/allocations.h"

#include <algorithm>
#include <cstdlib>
#include <new>
#include <utility>

namespace {

size_t largest = 0;  // the tests have one thread

}  // namespace

// These replace those of the whole program.
void* operator new(size_t size, const std::nothrow_t&) noexcept {
  largest = std::max(largest, size);
  return std::malloc(size);
}
void* operator new(size_t size) {
  if (void* at = operator new(size, std::nothrow)) return at;
  throw std::bad_alloc();
}
void operator delete(void* at) noexcept { std::free(at); }
void operator delete(void* at, size_t) noexcept { std::free(at); }

namespace lumen::testing {

size_t take_largest_allocation() { return std::exchange(largest, 0); }

}  // namespace lumen::testing
