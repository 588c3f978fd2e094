#include "lumen/backend/memory_plan.h"

#include <gtest/gtest.h>

#include <random>

namespace lumen {
namespace {

TEST(MemoryPlan, checker_finds_what_overlaps) {
  const std::vector<Lifetime> values = {{0, 2, 8}, {1, 3, 8}, {3, 4, 8}};
  EXPECT_TRUE(check_plan({{0, 1, 0}, 2}, values).ok());
  const Expected<void> overlap = check_plan({{0, 0, 1}, 2}, values);
  ASSERT_FALSE(overlap.ok());
  EXPECT_EQ(overlap.diag().str(), "values 0 (calls 0 to 2) and 1 (calls 1 to 3) are both in slot 0");
  EXPECT_FALSE(check_plan({{0, 1, 1}, 2}, values).ok());  // 1 is read by the call that makes 2
  EXPECT_EQ(check_plan({{0, 1, 2}, 2}, values).diag().str(), "value 2 is in slot 2 of 2");
  EXPECT_EQ(check_plan({{0, 1}, 2}, values).diag().str(), "a plan for 2 values, of which there are 3");
}

TEST(MemoryPlan, shares_what_does_not_meet) {
  const MemoryPlan plan = plan_memory(std::vector<Lifetime>{{0, 1, 400}, {1, 2, 40}, {2, 3, 300}, {3, 3, 41}});
  EXPECT_EQ(plan.slots, (std::vector<uint32_t>{0, 1, 0, 1}));
  EXPECT_EQ(plan.offsets(std::vector<int64_t>{400, 40, 300, 41}, 64), (std::vector<int64_t>{0, 448, 512}));
  // Other sizes, as symbolic dims have them: the same slots, larger.
  EXPECT_EQ(plan.offsets(std::vector<int64_t>{0, 400, 640, 41}, 64), (std::vector<int64_t>{0, 704, 1152}));
}

TEST(MemoryPlan, is_right_for_random_lives) {
  std::mt19937_64 random(std::random_device{}());
  for (int round = 0; round < 200; ++round) {
    std::vector<Lifetime> values;
    std::vector<int64_t> bytes;
    int64_t sum = 0;
    for (uint64_t k = random() % 60; k > 0; --k) {
      const auto first = static_cast<int64_t>(random() % 40);
      values.push_back({first, first + static_cast<int64_t>(random() % 9), static_cast<int64_t>(random() % 1000)});
      bytes.push_back(values.back().bytes);
      sum += (bytes.back() / 64 + 1) * 64;
    }
    const MemoryPlan plan = plan_memory(values);
    EXPECT_TRUE(check_plan(plan, values).ok());
    const std::vector<int64_t> offsets = plan.offsets(bytes, 64);
    EXPECT_LE(offsets.back(), sum);
    for (size_t k = 0; k < values.size(); ++k) {
      EXPECT_LE(offsets[plan.slots[k]] + bytes[k], offsets[plan.slots[k] + 1]);
    }
  }
}

}  // namespace
}  // namespace lumen
