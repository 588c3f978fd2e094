// Law: a chain of moves is one view that reads what materialising each step would have given.
#include <gtest/gtest.h>

#include "tests/ir/view_chains.h"

namespace lumen {
namespace {

using testing::Chain;
using testing::materialise;
using testing::Moves;
using testing::Random;

const Shape kTwoByThree{2, 3};

TEST(ViewMoves, RejectBadArguments) {
  const View v = View::identity(kTwoByThree);
  EXPECT_DEATH(reshape(v, Shape{4, 2}), "\\[2,3\\] to \\[4,2\\]");
  EXPECT_DEATH(permute(v, std::vector<int64_t>{0, 0}), "axis 0 twice");
  EXPECT_DEATH(permute(v, std::vector<int64_t>{0}), "1 axes for \\[2,3\\]");
  EXPECT_DEATH(expand(v, Shape{2, 4}), "\\[2,3\\] to \\[2,4\\]");
  EXPECT_DEATH(expand(v, Shape{3}), "\\[2,3\\] to \\[3\\]");
  EXPECT_DEATH(slice(v, 1, 1, 3, 1), "3 elements from 1 by 1 of axis 1 of \\[2,3\\]");
  EXPECT_DEATH(slice(v, 1, 1, 3, -1), "3 elements from 1 by -1 of axis 1 of \\[2,3\\]");
  EXPECT_DEATH(slice(v, 1, 0, 1, 0), "step 0");
  EXPECT_DEATH((void)pad(v, 1, -1, 0, testing::fill_mark()), "pad by -1 and 0");
  EXPECT_DEATH(flip(v, 2), "axis 2 of \\[2,3\\]");
  EXPECT_DEATH(unfold(v, 1, 5, 1, 1), "window 5 of \\[2,3\\]");
  EXPECT_DEATH(diagonal(v, 1, 1, 0, 1), "diagonal of axis 1 with itself");
}

TEST(ViewMoves, PadKeepsApartDifferentFills) {
  const View once = *pad(View::identity(kTwoByThree), 0, 1, 0, Scalar::of(DType::f32, 1.0));
  EXPECT_EQ(pad(once, 0, 1, 0, Scalar::of(DType::f32, 2.0)), std::nullopt);
  EXPECT_NE(pad(once, 0, 1, 0, Scalar::of(DType::f32, 1.0)), std::nullopt);
}

TEST(ViewMoves, PadByNothingIsNoMove) {
  const View v = View::identity(kTwoByThree);
  EXPECT_EQ(pad(v, 0, 0, 0, testing::fill_mark()), v);
}

TEST(ViewMoves, EmptyViewsAreCanonical) {
  const View v = View::identity(kTwoByThree);
  const View nothing = slice(v, 1, 3, 0, 1);
  EXPECT_EQ(nothing, View::identity(Shape{2, 0}));
  EXPECT_EQ(reshape(nothing, Shape{0}), View::identity(Shape{0}));
  EXPECT_EQ(flip(roll(nothing, 1, 1), 0), nothing);
  const View all_fill = *pad(nothing, 1, 1, 2, testing::fill_mark());
  EXPECT_EQ(all_fill, View(kTwoByThree, 0, 0, testing::fill_mark()));
  EXPECT_EQ(materialise(all_fill, {}).data, std::vector<int64_t>(6, testing::kFillMark));
}

TEST(ViewMoves, PrintOneForm) {
  const Expr seq = Expr::dim("seq", 1, 8192);
  const View v = View::identity(Shape{2, seq});
  EXPECT_EQ(v.str(), "{[2,seq] " + v.index().str() + "}");
  EXPECT_EQ(View().str(), "{[] 0}");
  const View padded = *pad(View::identity(Shape{5}), 0, 2, 2, Scalar::of(DType::f32, 0.0));
  EXPECT_EQ(padded.str(), "{[9] i0 - 2 if i0 < 7 and i0 >= 2 else f32(0)}");
}

TEST(ViewMoves, GuardFixesACoordinate) {
  const View v = slice(*pad(View::identity(Shape{1, 3}), 0, 1, 0, testing::fill_mark()), 0, 0, 2, 1);
  EXPECT_EQ(v.str(), "{[2,3] i1 if i0 >= 1 else i64(-7)}");
}

TEST(ViewMoves, SliceInsideThePaddedPartDropsTheGuard) {
  const View padded = *pad(View::identity(Shape{5}), 0, 2, 2, testing::fill_mark());
  EXPECT_EQ(slice(padded, 0, 2, 5, 1), View::identity(Shape{5}));
  EXPECT_EQ(slice(padded, 0, 0, 2, 1), View(Shape{2}, 0, 0, testing::fill_mark()));
}

TEST(ViewMoves, GuardMakesTheIndexAffine) {
  // The guard leaves only the first copy of the repeated axis.
  const View copies = repeat(View::identity(Shape{3}), 0, 2);
  const View cut = slice(*pad(copies, 0, 3, 0, testing::fill_mark()), 0, 0, 5, 1);
  EXPECT_EQ(cut.str(), "{[5] i0 - 3 if i0 >= 3 else i64(-7)}");
}

void check_chains(uint64_t first_seed, int count, bool symbolic, Moves moves) {
  for (uint64_t seed = first_seed; seed < first_seed + static_cast<uint64_t>(count); ++seed) {
    Random random(seed);
    Chain chain(random, symbolic);
    for (int64_t steps = random.in(1, 6); steps > 0; --steps) {
      chain.step(random, moves);
      for (size_t a = 0; a < chain.assignments().size(); ++a) {
        const testing::Dense read = materialise(chain.view(), chain.assignments()[a]);
        ASSERT_EQ(read.dims, chain.tensors()[a].dims) << "seed " << seed << ", assignment " << a << "\n" << chain.log();
        ASSERT_EQ(read.data, chain.tensors()[a].data) << "seed " << seed << ", assignment " << a << "\n" << chain.log();
      }
    }
  }
}

TEST(ViewMaterialise, StaticChains) { check_chains(1000, 3000, false, Moves::all); }
TEST(ViewMaterialise, StaticUnguardedChains) { check_chains(10000, 2000, false, Moves::unguarded); }
TEST(ViewMaterialise, SymbolicChains) { check_chains(20000, 2000, true, Moves::all); }
TEST(ViewMaterialise, SymbolicAffineChains) { check_chains(30000, 1000, true, Moves::affine); }

}  // namespace
}  // namespace lumen
