// What the queries say, checked against the elements a view really reads.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "tests/ir/view_chains.h"

namespace lumen {
namespace {

using testing::Chain;
using testing::kFillMark;
using testing::kS;
using testing::materialise;
using testing::Moves;
using testing::Random;

const std::vector<int64_t> kSwap{1, 0};

TEST(ViewQueries, AffineNeedsNoGuardAndNoDivision) {
  const View v = View::identity(Shape{4});
  EXPECT_FALSE(affine(*pad(v, 0, 1, 0, testing::fill_mark())));
  EXPECT_FALSE(affine(repeat(v, 0, 2)));
  EXPECT_FALSE(affine(roll(v, 0, 1)));
}

TEST(ViewQueries, AffineGivesOneStridePerDim) {
  const auto form = affine(permute(slice(View::identity(Shape{kS, 1, 8}), 2, 7, 4, -2), std::vector<int64_t>{2, 1, 0}));
  ASSERT_TRUE(form);
  EXPECT_EQ(form->offset, Expr(7));
  EXPECT_EQ(form->strides, (std::vector<Expr>{-2, 0, 8}));
}

TEST(ViewQueries, Contiguous) {
  const View v = View::identity(Shape{kS, 8});
  EXPECT_FALSE(is_contiguous(permute(v, kSwap)));
  EXPECT_FALSE(is_contiguous(slice(v, 1, 0, 4, 1)));
  EXPECT_FALSE(is_contiguous(expand(View::identity(Shape{1}), Shape{4})));
  EXPECT_FALSE(is_contiguous(*pad(v, 0, 1, 0, testing::fill_mark())));
  EXPECT_TRUE(is_contiguous(v));
  EXPECT_TRUE(is_contiguous(slice(v, 0, 3, 5, 1)));
  EXPECT_TRUE(is_contiguous(slice(v, 0, Expr::dim("at", 0, 7), 1, 1)));
}

TEST(ViewQueries, BroadcastDims) {
  const View row = expand(View::identity(Shape{1, kS}), Shape{5, kS});
  EXPECT_EQ(broadcast_dims(row), (std::vector<int64_t>{0}));
  EXPECT_EQ(broadcast_dims(View::identity(Shape{4, kS})), std::vector<int64_t>{});
  // A guard reads its coordinate.
  EXPECT_EQ(broadcast_dims(*pad(row, 0, 1, 0, testing::fill_mark())), std::vector<int64_t>{});
}

TEST(ViewQueries, DependentDims) {
  const View v = View::identity(Shape{4, 1, kS});
  EXPECT_EQ(dependent_dims(v, v.index()), (std::vector<int64_t>{0, 2}));
  EXPECT_EQ(dependent_dims(v, Expr::index(2, kS) * 3), (std::vector<int64_t>{2}));
  EXPECT_EQ(dependent_dims(v, kS), std::vector<int64_t>{});
}

TEST(ViewQueries, Injective) {
  const View v = View::identity(Shape{kS, 8});
  EXPECT_FALSE(is_injective(expand(View::identity(Shape{1, 8}), Shape{kS, 8})));
  EXPECT_FALSE(is_injective(unfold(v, 1, 3, 2, 1)));
  EXPECT_TRUE(is_injective(unfold(v, 1, 2, 2, 1)));
  EXPECT_TRUE(is_injective(permute(v, kSwap)));
  EXPECT_TRUE(is_injective(flip(slice(v, 1, 1, 3, 2), 0)));
  EXPECT_TRUE(is_injective(expand(View::identity(Shape{8}), Shape{1, 8})));
}

TEST(ViewQueries, SpanOfSymbolicViews) {
  const View v = View::identity(Shape{kS, 8});
  const auto whole = physical_span(permute(v, kSwap));
  ASSERT_TRUE(whole);
  EXPECT_EQ(whole->lowest, Expr(0));
  EXPECT_EQ(whole->end, kS * 8);
  const auto reversed = physical_span(slice(v, 1, 6, 3, -2));
  ASSERT_TRUE(reversed);
  EXPECT_EQ(reversed->lowest, Expr(2));
  EXPECT_EQ(reversed->end, kS * 8 - 1);
  const auto padded = physical_span(*pad(v, 1, 2, 3, testing::fill_mark()));
  ASSERT_TRUE(padded);
  EXPECT_EQ(padded->lowest, Expr(0));
  EXPECT_EQ(padded->end, kS * 8);
}

TEST(ViewQueries, FitsItsSourceAndNoSmallerOne) {
  const View v = View::identity(Shape{kS, 8});
  for (View w : {v, permute(v, kSwap), flip(v, 0), *pad(v, 1, 2, 3, testing::fill_mark()), repeat(v, 1, 3),
                 roll(v, 1, 3), unfold(*pad(v, 0, 1, 1, testing::fill_mark()), 0, 3, 1, 1)}) {
    EXPECT_TRUE(fits(w, kS * 8)) << w.str();
    EXPECT_FALSE(fits(w, kS * 8 - 1)) << w.str();
  }
  EXPECT_FALSE(fits(View(Shape{4}, Expr::index(0, 4) - 1), 4));
}

TEST(ViewQueries, AgreeWithTheElements) {
  int affine_seen = 0, injective_seen = 0, spans_seen = 0, fits_seen = 0;
  for (uint64_t seed = 1; seed <= 3000; ++seed) {
    Random random(seed);
    Chain chain(random, seed % 2 == 0);
    for (int64_t steps = random.in(1, 5); steps > 0; --steps)
      chain.step(random, seed % 3 == 0 ? Moves::all : Moves::unguarded);
    const View v = chain.view();
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + chain.log());
    const auto span = physical_span(v);
    affine_seen += affine(v).has_value();
    injective_seen += is_injective(v);
    spans_seen += span.has_value();
    fits_seen += fits(v, chain.source().numel());
    for (const DimValues& values : chain.assignments()) {
      const auto elements = materialise(v, values);
      std::vector<int64_t> read = elements.data;
      std::erase(read, kFillMark);
      const std::set<int64_t> distinct(read.begin(), read.end());
      if (is_injective(v)) {
        ASSERT_EQ(distinct.size(), read.size());
      }
      if (span && !read.empty()) {
        ASSERT_LE(evaluate(span->lowest, values).value(), *distinct.begin());
        ASSERT_GE(evaluate(span->end, values).value(), *distinct.rbegin() + 1);
        if (!v.has_guard()) {
          ASSERT_EQ(evaluate(span->lowest, values).value(), *distinct.begin());
          ASSERT_EQ(evaluate(span->end, values).value(), *distinct.rbegin() + 1);
        }
      }
      if (is_contiguous(v)) {
        for (size_t k = 1; k < read.size(); ++k) ASSERT_EQ(read[k], read[k - 1] + 1);
      }
    }
  }
  EXPECT_GT(affine_seen, 1000);
  EXPECT_GT(injective_seen, 500);
  EXPECT_GT(spans_seen, 1200);
  EXPECT_GT(fits_seen, 2700);
}

}  // namespace
}  // namespace lumen
