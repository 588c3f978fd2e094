#include "lumen/base/nearest.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <array>
#include <string>

namespace lumen {
namespace {

constexpr std::array<std::string_view, 5> kOps = {"Add", "Mul", "Maximum", "MaxReduce", "SumReduce"};

TEST(Nearest, NothingIsNearEnough) {
  EXPECT_EQ(nearest("Convolution", kOps), std::nullopt);
  EXPECT_EQ(nearest("", kOps), std::nullopt);
  EXPECT_EQ(nearest("xy", kOps), std::nullopt);
  EXPECT_EQ(nearest("Add", {}), std::nullopt);
}

TEST(Nearest, FindsTypingMistakes) {
  EXPECT_EQ(nearest("Maximun", kOps), "Maximum");
  EXPECT_EQ(nearest("maxreduce", kOps), "MaxReduce");
  EXPECT_EQ(nearest("SmuReduce", kOps), "SumReduce");
  EXPECT_EQ(nearest("Ad", kOps), "Add");
}

TEST(Nearest, FirstOfEquals) {
  constexpr std::array<std::string_view, 2> kEqual = {"abcx", "abcy"};
  EXPECT_EQ(nearest("abcz", kEqual), "abcx");
}

TEST(EditDistance, KnownValues) {
  EXPECT_EQ(edit_distance("", "abc"), 3u);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
  EXPECT_EQ(edit_distance("ab", "ba"), 1u);
  EXPECT_EQ(edit_distance("LUMEN", "lumen"), 0u);
}

RC_GTEST_PROP(EditDistance, IsSymmetricAndBounded, (const std::string& a, const std::string& b)) {
  const size_t distance = edit_distance(a, b);
  RC_ASSERT(distance == edit_distance(b, a));
  RC_ASSERT(distance <= std::max(a.size(), b.size()));
  RC_ASSERT(edit_distance(a, a) == 0u);
}

}  // namespace
}  // namespace lumen
