// Laws: compose(outer, inner) reads inner through outer, and composing is associative.
#include <gtest/gtest.h>

#include "tests/ir/view_chains.h"

namespace lumen {
namespace {

using testing::Chain;
using testing::materialise;
using testing::Moves;
using testing::Random;
using testing::read_through;

const Scalar kZero = Scalar::of(DType::f32, 0.0);
const Scalar kOne = Scalar::of(DType::f32, 1.0);

TEST(ViewCompose, DifferentFillsStayTwoViews) {
  const View inner = *pad(View::identity(Shape{4}), 0, 1, 1, kZero);
  const View outer = *pad(View::identity(Shape{6}), 0, 1, 1, kOne);
  EXPECT_EQ(compose(outer, inner), std::nullopt);
  EXPECT_NE(compose(*pad(View::identity(Shape{6}), 0, 1, 1, kZero), inner), std::nullopt);
}

TEST(ViewCompose, DifferentFillsMeetWhenTheInnerGuardCannotFail) {
  const View inner = *pad(View::identity(Shape{4}), 0, 1, 1, kZero);
  const View middle = slice(View::identity(Shape{6}), 0, 1, 4, 1);
  const View outer = *pad(middle, 0, 1, 1, kOne);
  EXPECT_EQ(compose(outer, inner), *pad(View::identity(Shape{4}), 0, 1, 1, kOne));
}

TEST(ViewCompose, GuardOfTheOuterViewRemovesDivisions) {
  const Expr s = Expr::dim("s", 1, 8192);
  const View transposed = permute(View::identity(Shape{s, 4}), std::vector<int64_t>{1, 0});
  for (int64_t axis : {0, 1}) {
    const View padded = *pad(View::identity(transposed.shape()), axis, 2, 1, kZero);
    EXPECT_EQ(compose(padded, transposed), pad(transposed, axis, 2, 1, kZero)) << axis;
    const View windows = unfold(padded, axis, 3, 2, 1);
    EXPECT_EQ(compose(windows, transposed), unfold(*pad(transposed, axis, 2, 1, kZero), axis, 3, 2, 1)) << axis;
  }
}

TEST(ViewCompose, WorkedExampleOfTheHeader) {
  const Expr seq = Expr::dim("seq", 1, 8192);
  const View inner = permute(View::identity(Shape{seq, 4}), std::vector<int64_t>{1, 0});
  const View outer = *pad(View::identity(inner.shape()), 0, 1, 0, kZero);
  EXPECT_EQ(inner.str(), "{[4,seq] i0 + 4*i1}");
  EXPECT_EQ(outer.str(), "{[5,seq] seq*i0 - seq + i1 if i0 >= 1 else f32(0)}");
  EXPECT_EQ(compose(outer, inner)->str(), "{[5,seq] i0 + 4*i1 - 1 if i0 >= 1 else f32(0)}");
}

TEST(ViewCompose, GuardOfAMergedAxis) {
  // The guard and the index speak of i0/6 and i0%6; split, they are linear.
  const View turned = permute(View::identity(Shape{4, 4}), std::vector<int64_t>{1, 0});
  const auto ring = [](View v) { return reshape(*pad(*pad(v, 0, 1, 1, kZero), 1, 1, 1, kZero), Shape{36}); };
  EXPECT_EQ(compose(ring(View::identity(Shape{4, 4})), turned), ring(turned));
}

TEST(ViewCompose, PaddedWindowsOfAnImage) {
  const Expr n = Expr::dim("n", 1, 64);
  const View channels_last = permute(View::identity(Shape{n, 8, 8, 3}), std::vector<int64_t>{0, 3, 1, 2});
  const auto windows = [&](View v) {
    v = *pad(*pad(v, 2, 1, 1, kZero), 3, 1, 1, kZero);
    return unfold(unfold(v, 2, 3, 1, 1), 3, 3, 1, 1);
  };
  EXPECT_EQ(compose(windows(View::identity(channels_last.shape())), channels_last), windows(channels_last));
}

TEST(ViewCompose, NothingIsReadOfAnEmptyView) {
  const View empty = View::identity(Shape{0});
  EXPECT_EQ(compose(*pad(empty, 0, 1, 1, kZero), empty), View(Shape{2}, 0, 0, kZero));
}

struct Pair {
  Chain inner, outer;
};

Pair random_pair(Random& random, bool symbolic, Moves moves) {
  Chain inner(random, symbolic);
  for (int64_t steps = random.in(1, 3); steps > 0; --steps) inner.step(random, moves);
  Chain outer = Chain::onto(inner);
  for (int64_t steps = random.in(1, 3); steps > 0; --steps) outer.step(random, moves);
  return {inner, outer};
}

TEST(ViewCompose, ReadsInnerThroughOuter) {
  for (uint64_t seed = 1; seed <= 2000; ++seed) {
    Random random(seed);
    const auto [inner, outer] = random_pair(random, seed % 2 == 0, Moves::all);
    const auto both = compose(outer.view(), inner.view());
    ASSERT_TRUE(both.has_value()) << "seed " << seed;
    for (size_t a = 0; a < inner.assignments().size(); ++a) {
      const auto expected = read_through(outer.view(), inner.tensors()[a], inner.assignments()[a]);
      ASSERT_EQ(materialise(*both, inner.assignments()[a]).data, expected.data) << "seed " << seed << "\n"
                                                                                << inner.log() << "\n"
                                                                                << outer.log() << "\n"
                                                                                << both->str();
    }
  }
}

// Always the same elements; the same object whenever one side is affine, and nearly always otherwise: divisions of a
// reshape that does not line up have more than one normal form. Returns how many were the same object.
int check_associativity(uint64_t first_seed, int count, Moves moves) {
  int same_object = 0;
  for (uint64_t seed = first_seed; seed < first_seed + static_cast<uint64_t>(count); ++seed) {
    Random random(seed);
    const auto [c, b] = random_pair(random, seed % 2 == 0, moves);
    Chain a = Chain::onto(b);
    for (int64_t steps = random.in(1, 3); steps > 0; --steps) a.step(random, moves);
    const auto left = compose(*compose(a.view(), b.view()), c.view());
    const auto right = compose(a.view(), *compose(b.view(), c.view()));
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + c.log() + "\n" + b.log() + "\n" + a.log());
    EXPECT_TRUE(left && right);
    if (affine(*left) || affine(*right)) {
      EXPECT_EQ(*left, *right);
    }
    for (const DimValues& values : c.assignments()) {
      EXPECT_EQ(materialise(*left, values).data, materialise(*right, values).data) << left->str() << "\n"
                                                                                   << right->str();
    }
    if (::testing::Test::HasFailure()) return same_object;
    same_object += *left == *right;
  }
  return same_object;
}

TEST(ViewCompose, IsAssociative) { EXPECT_GT(check_associativity(1, 1000, Moves::affine), 970); }
TEST(ViewCompose, IsAssociativeUnguarded) { EXPECT_GT(check_associativity(10000, 1000, Moves::unguarded), 970); }
TEST(ViewCompose, IsAssociativeGuarded) { EXPECT_GT(check_associativity(20000, 1000, Moves::all), 960); }

}  // namespace
}  // namespace lumen
