// Law: compose(inverse(v), v) and compose(v, inverse(v)) are identities.
#include <gtest/gtest.h>

#include "tests/ir/view_chains.h"

namespace lumen {
namespace {

using testing::kB;
using testing::kS;
using testing::Random;

TEST(ViewInverse, OnlyBijectionsHaveOne) {
  const Shape source{kS, 4};
  const View v = View::identity(source);
  EXPECT_EQ(inverse(slice(v, 1, 0, 2, 1), source), std::nullopt);
  EXPECT_EQ(inverse(repeat(v, 1, 2), source), std::nullopt);
  EXPECT_EQ(inverse(*pad(v, 1, 1, 0, testing::fill_mark()), source), std::nullopt);
  // As many elements as the source has, but element 0 twice.
  EXPECT_EQ(inverse(expand(View::identity(Shape{1}), Shape{4}), Shape{4}), std::nullopt);
  EXPECT_EQ(inverse(View(Shape{4}, Expr::index(0, 4) + 1), Shape{4}), std::nullopt);
}

void expect_inverse(View v, Shape source) {
  const auto back = inverse(v, source);
  ASSERT_TRUE(back.has_value()) << v.str();
  EXPECT_EQ(back->shape(), source);
  EXPECT_EQ(compose(*back, v), View::identity(source)) << v.str();
  EXPECT_EQ(compose(v, *back), View::identity(v.shape())) << v.str();
}

TEST(ViewInverse, OfAttentionHeads) {
  const Shape source{kB, kS, 8 * 64};
  const View heads = permute(reshape(View::identity(source), Shape{kB, kS, 8, 64}), std::vector<int64_t>{0, 2, 1, 3});
  expect_inverse(heads, source);
  EXPECT_EQ(inverse(heads, source)->shape(), source);
  expect_inverse(reshape(heads, Shape{kB * 8, kS, 64}), source);
}

TEST(ViewInverse, OfFlips) {
  const Shape source{kS, 4};
  const View v = View::identity(source);
  EXPECT_EQ(inverse(flip(v, 0), source), flip(v, 0));
  expect_inverse(flip(flip(permute(v, std::vector<int64_t>{1, 0}), 0), 1), source);
}

TEST(ViewInverse, OfMergedTransposes) {
  const Shape source{2, 3};
  expect_inverse(reshape(permute(View::identity(source), std::vector<int64_t>{1, 0}), Shape{6}), source);
  const Shape dynamic{kS, 3, 4};
  expect_inverse(reshape(permute(View::identity(dynamic), std::vector<int64_t>{0, 2, 1}), Shape{kS, 12}), dynamic);
}

TEST(ViewInverse, OfRandomShuffles) {
  int found = 0;
  for (uint64_t seed = 1; seed <= 1500; ++seed) {
    Random random(seed);
    const Expr a = seed % 2 == 0 ? kS : Expr(random.in(1, 5));
    const Expr b = random.in(1, 5), c = random.in(1, 4), d = seed % 3 == 0 ? kB : Expr(random.in(1, 3));
    const Shape source{a, b * c, d};
    View v = reshape(View::identity(source), Shape{a, b, c, d});
    std::vector<int64_t> order{0, 1, 2, 3};
    for (size_t k = 3; k > 0; --k)
      std::swap(order[k], order[static_cast<size_t>(random.in(0, static_cast<int64_t>(k)))]);
    v = permute(v, order);
    if (random.chance(40)) v = flip(v, random.in(0, 3));
    const auto back = inverse(v, source);
    ASSERT_TRUE(back.has_value()) << "seed " << seed << " " << v.str();
    ASSERT_EQ(compose(*back, v), View::identity(source)) << "seed " << seed << " " << v.str();
    ++found;
  }
  EXPECT_EQ(found, 1500);
}

}  // namespace
}  // namespace lumen
