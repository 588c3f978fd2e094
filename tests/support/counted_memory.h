// Counts what a test program takes from the heap: this header defines the operators of the whole program, and is
// included by one of its sources alone.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

namespace lumen::testing {

inline std::atomic<size_t> allocations = 0;
inline std::atomic<size_t> largest_allocation = 0;  // bytes

}  // namespace lumen::testing

void* operator new(size_t size, const std::nothrow_t&) noexcept {
  using namespace lumen::testing;
  ++allocations;
  if (size > largest_allocation) largest_allocation = size;
  return std::malloc(std::max<size_t>(size, 1));
}
void* operator new(size_t size) {
  if (void* at = operator new(size, std::nothrow)) return at;
  throw std::bad_alloc();
}
void operator delete(void* at) noexcept { std::free(at); }
void operator delete(void* at, size_t) noexcept { std::free(at); }
void operator delete(void* at, const std::nothrow_t&) noexcept { std::free(at); }
