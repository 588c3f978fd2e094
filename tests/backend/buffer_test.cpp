#include "lumen/backend/buffer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <thread>
#include <vector>

namespace lumen {
namespace {

constexpr int64_t kLarge = int64_t{40} << 20;

bool is_zero(const Buffer& buffer) {
  return std::all_of(buffer.data(), buffer.data() + buffer.bytes(), [](std::byte b) { return b == std::byte{0}; });
}

TEST(Buffer, zeros_that_are_aligned_whatever_the_size) {
  for (const int64_t bytes :
       {int64_t{0}, int64_t{1}, int64_t{65}, (int64_t{8} << 20) - 1, int64_t{8} << 20, kLarge + 3}) {
    const Buffer buffer(bytes);
    EXPECT_EQ(buffer.bytes(), bytes);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(buffer.data()) % Buffer::kAlign, 0U);
    EXPECT_TRUE(is_zero(buffer));
    std::memset(buffer.data(), 0xa5, static_cast<size_t>(bytes));
  }
}

TEST(Buffer, what_is_released_is_taken_again_while_it_is_kept) {
  const KeepReleased outer;
  const std::byte* first = nullptr;
  {
    const KeepReleased inner;
    const Buffer buffer(kLarge);
    first = buffer.data();
    std::memset(buffer.data(), 0xa5, kLarge);
  }
  // One that is much larger or smaller has its own.
  const Buffer larger(2 * kLarge), smaller(kLarge / 4);
  EXPECT_NE(larger.data(), first);
  EXPECT_NE(smaller.data(), first);
  const Buffer again(kLarge - 100);
  EXPECT_EQ(again.data(), first);
  EXPECT_TRUE(is_zero(again));
}

TEST(Buffer, threads_take_and_release_at_once) {
  const KeepReleased keep;
  std::vector<std::thread> threads;
  for (int k = 0; k < 4; ++k) {
    threads.emplace_back([k] {
      for (int round = 0; round < 8; ++round) {
        const Buffer buffer((int64_t{9} << 20) + 4096 * k);
        EXPECT_EQ(buffer.data()[buffer.bytes() - 1], std::byte{0});
        buffer.data()[buffer.bytes() - 1] = std::byte{1};
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace lumen
