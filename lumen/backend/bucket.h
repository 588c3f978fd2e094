// Sizes that are treated alike: on a device, what is planned for one of a bucket serves all of it.
#pragma once

#include <bit>
#include <cstdint>

namespace lumen {

// The largest size of the bucket that a size is in: 1, 2, …, 16, 18, …, 32, 36, …, at most an eighth more than the
// size.
constexpr int64_t bucket_of(int64_t size) {
  if (size <= 16) return size;
  const auto step = static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(size - 1))) / 8;
  return (size + step - 1) / step * step;
}

}  // namespace lumen
