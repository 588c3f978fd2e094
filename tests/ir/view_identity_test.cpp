// Law: the identity of a shape is neutral for composition, and no other view is.
#include <gtest/gtest.h>

#include "tests/ir/view_chains.h"

namespace lumen {
namespace {

using testing::Chain;
using testing::Moves;
using testing::Random;

TEST(ViewIdentity, OtherViewsAreNot) {
  const Expr s = Expr::dim("s", 1, 8192);
  const View v = View::identity(Shape{s, 4});
  EXPECT_FALSE(is_identity(permute(v, std::vector<int64_t>{1, 0})));
  EXPECT_FALSE(is_identity(flip(v, 1)));
  EXPECT_FALSE(is_identity(slice(v, 1, 0, 2, 1)));
  EXPECT_FALSE(is_identity(expand(View::identity(Shape{4}), Shape{s, 4})));
  EXPECT_FALSE(is_identity(*pad(v, 0, 1, 0, testing::fill_mark())));
  EXPECT_FALSE(is_identity(View(Shape{4}, Expr::index(0, 4) + 1)));
}

TEST(ViewIdentity, ReshapesOfAWholeSourceAre) {
  const Expr s = Expr::dim("s", 1, 8192);
  const View v = View::identity(Shape{s, 12});
  EXPECT_TRUE(is_identity(v));
  EXPECT_TRUE(is_identity(View()));
  EXPECT_EQ(reshape(v, Shape{s * 3, 4}), View::identity(Shape{s * 3, 4}));
  EXPECT_EQ(reshape(v, Shape{12, s}), View::identity(Shape{12, s}));
  EXPECT_EQ(permute(permute(v, std::vector<int64_t>{1, 0}), std::vector<int64_t>{1, 0}), v);
  EXPECT_EQ(flip(flip(v, 0), 0), v);
}

TEST(ViewIdentity, IsNeutral) {
  for (uint64_t seed = 1; seed <= 1500; ++seed) {
    Random random(seed);
    Chain chain(random, seed % 2 == 0);
    for (int64_t steps = random.in(1, 5); steps > 0; --steps) chain.step(random, Moves::all);
    const View v = chain.view();
    ASSERT_EQ(compose(View::identity(v.shape()), v), v) << "seed " << seed << "\n" << chain.log();
    ASSERT_EQ(compose(v, View::identity(chain.source())), v) << "seed " << seed << "\n" << chain.log();
  }
}

}  // namespace
}  // namespace lumen
