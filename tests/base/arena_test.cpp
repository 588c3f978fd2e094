#include "lumen/base/arena.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cstring>
#include <numeric>
#include <utility>
#include <vector>

namespace lumen {
namespace {

bool is_aligned(const void* pointer, size_t align) { return reinterpret_cast<uintptr_t>(pointer) % align == 0; }

TEST(ArenaDeathTest, AlignmentMustBeAPowerOfTwo) {
  EXPECT_DEATH(Arena().allocate(8, 3), "an alignment is a power of two");
  EXPECT_DEATH(Arena().allocate(SIZE_MAX, 8), "an allocation of nearly all memory");
}

TEST(Arena, AlignsEveryRequest) {
  Arena arena;
  for (size_t align = 1; align <= 8192; align *= 2) {
    EXPECT_TRUE(is_aligned(arena.allocate(1, align), align)) << align;
    EXPECT_TRUE(is_aligned(arena.allocate(3, align), align)) << align;
  }
  EXPECT_NE(arena.allocate(0), nullptr);
}

TEST(Arena, ChunksGrowFrom4KiBTo1MiB) {
  Arena arena;
  EXPECT_EQ(arena.capacity(), 0u);
  arena.allocate(1);
  EXPECT_EQ(arena.capacity(), 4096u);
  size_t before = arena.capacity();
  size_t largest = 0;
  for (int i = 0; i < 8000; ++i) {
    arena.allocate(1024);
    largest = std::max(largest, arena.capacity() - before);
    before = arena.capacity();
  }
  EXPECT_EQ(largest, size_t{1} << 20);
  EXPECT_EQ(arena.bytes(), 1u + 8000u * 1024u);
  EXPECT_LT(arena.capacity(), arena.bytes() + (size_t{2} << 20));
}

TEST(Arena, ALargeRequestDoesNotWasteTheCurrentChunk) {
  Arena arena;
  arena.allocate(16);
  arena.allocate(10 << 20);
  const size_t capacity = arena.capacity();
  arena.allocate(2048);
  EXPECT_EQ(arena.capacity(), capacity);
}

TEST(Arena, MakesAndCopies) {
  struct Point {
    int x, y;
  };
  Arena arena;
  const Point* point = arena.make<Point>(1, 2);
  EXPECT_EQ(point->x + point->y, 3);
  const std::vector<int> values = {1, 2, 3};
  const std::span<int> copy = arena.copy(std::span<const int>(values));
  EXPECT_TRUE(std::equal(copy.begin(), copy.end(), values.begin(), values.end()));
  EXPECT_NE(copy.data(), values.data());
  EXPECT_TRUE(arena.copy(std::span<const int>()).empty());
  EXPECT_EQ(arena.copy(std::string_view("text")), "text");
}

TEST(Arena, PointersSurviveAMove) {
  Arena first;
  const int* value = first.make<int>(42);
  Arena second = std::move(first);
  Arena third;
  third.allocate(100);
  third = std::move(second);
  EXPECT_EQ(*value, 42);
  EXPECT_EQ(third.bytes(), sizeof(int));
  // A moved-from Arena is empty and can be used again.
  EXPECT_EQ(second.bytes(), 0u);  // NOLINT(bugprone-use-after-move)
  EXPECT_EQ(*second.make<int>(7), 7);
}

RC_GTEST_PROP(Arena, BlocksDoNotOverlap, (const std::vector<uint16_t>& sizes)) {
  Arena arena;
  std::vector<std::span<unsigned char>> blocks;
  for (size_t i = 0; i < sizes.size(); ++i) {
    const size_t align = size_t{1} << (i % 7);
    auto* start = static_cast<unsigned char*>(arena.allocate(sizes[i], align));
    RC_ASSERT(is_aligned(start, align));
    std::memset(start, static_cast<int>(i & 0xff), sizes[i]);
    blocks.emplace_back(start, sizes[i]);
  }
  for (size_t i = 0; i < blocks.size(); ++i) {
    for (const unsigned char byte : blocks[i]) RC_ASSERT(byte == (i & 0xff));
  }
  RC_ASSERT(arena.bytes() == std::accumulate(sizes.begin(), sizes.end(), size_t{0}));
}

}  // namespace
}  // namespace lumen
