#include "lumen/base/statistics.h"

#include <gtest/gtest.h>

namespace lumen {

TEST(Statistics, MedianAndDeviation) {
  EXPECT_EQ(median({3}), 3);
  EXPECT_EQ(median({5, 1, 3}), 3);
  EXPECT_EQ(median({4, 1, 3, 2}), 2.5);
  const Summary one = summarise({7});
  EXPECT_EQ(one.median, 7);
  EXPECT_EQ(one.mad, 0);
  EXPECT_EQ(one.trials, 1);
  // One wild value moves neither the median nor the deviation.
  const Summary many = summarise({10, 11, 9, 10, 1000});
  EXPECT_EQ(many.median, 10);
  EXPECT_EQ(many.mad, 1);
  EXPECT_EQ(many.trials, 5);
}

TEST(Statistics, SlowerOnlyBeyondThreeDeviationsAndTwoPercent) {
  const auto change = [](double before, double before_mad, double after, double after_mad) {
    return change_between({before, before_mad, 9}, {after, after_mad, 9});
  };
  EXPECT_EQ(change(100, 0, 100, 0), Change::none);
  EXPECT_EQ(change(100, 0, 102, 0), Change::none);  // no noise, but within 2 %
  EXPECT_EQ(change(100, 0, 102.1, 0), Change::slower);
  EXPECT_EQ(change(100, 10, 129, 1), Change::none);  // 29 %, but within three deviations of the old
  EXPECT_EQ(change(100, 1, 129, 10), Change::none);  // and of the new
  EXPECT_EQ(change(100, 10, 131, 1), Change::slower);
  EXPECT_EQ(change(100, 0, 97.9, 0), Change::faster);
  EXPECT_EQ(change(100, 1, 97.5, 0), Change::none);
}

TEST(Statistics, PairsAreComparedRoundByRound) {
  // Rounds differ fivefold; within each, one takes 5 % longer than the other.
  const std::vector<double> other = {1, 5, 2, 1, 3, 2, 4};
  std::vector<double> own;
  for (const double seconds : other) own.push_back(1.05 * seconds);
  const PairedRatio slower = paired_ratio(own, other);
  EXPECT_NEAR(slower.median, 1.05, 1e-12);
  EXPECT_NEAR(slower.error, 0, 1e-12);
  EXPECT_TRUE(slower.loses());
  EXPECT_FALSE(paired_ratio(other, own).loses());
  EXPECT_FALSE(paired_ratio(other, other).loses());
  // Within 2 % nobody loses, however sure that is; and 10 % that may be chance is not a loss.
  EXPECT_FALSE((PairedRatio{1.019, 0}).loses());
  EXPECT_TRUE((PairedRatio{1.021, 0}).loses());
  EXPECT_TRUE((PairedRatio{1.1, 0.03}).loses());
  EXPECT_FALSE((PairedRatio{1.1, 0.04}).loses());
  EXPECT_TRUE((PairedRatio{1.1, 0.04}).is_behind());
  EXPECT_FALSE((PairedRatio{1.019, 0}).is_behind());
  // The error falls with the root of the number of pairs.
  const std::vector<double> four = {1, 1.2, 1, 1.2}, ones(4, 1),
                            sixteen = {1, 1.2, 1, 1.2, 1, 1.2, 1, 1.2, 1, 1.2, 1, 1.2, 1, 1.2, 1, 1.2};
  EXPECT_NEAR(paired_ratio(four, ones).error, 2 * paired_ratio(sixteen, std::vector<double>(16, 1)).error, 1e-12);
}

}  // namespace lumen
