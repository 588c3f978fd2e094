// Medians of competitors whose trials took turns on a machine that others slow down for some rounds.
#include "lumen/search/measure.h"

#include <gtest/gtest.h>

namespace lumen::search {
namespace {

TEST(MediansOfRounds, AreMediansWhereNothingDisturbs) {
  EXPECT_TRUE(medians_of_rounds({}).empty());
  EXPECT_EQ(medians_of_rounds({{3, 3, 3}, {5, 5, 5}}), (std::vector<double>{3, 5}));
}

// The second is a tenth slower in every round, but most of its trials were in time.
TEST(MediansOfRounds, LeaveOutWhatSlowsARound) {
  const std::vector<double> slowness = {1, 3, 1, 3, 3, 1, 3, 1, 3};
  std::vector<std::vector<double>> times(3);
  for (const double slow : slowness) {
    times[0].push_back(1.0 * slow);
    times[1].push_back(1.1 * slow);
    times[2].push_back(2.0 * slow);
  }
  times[1][1] = times[1][3] = 1.1;  // by chance, in the middle of slow rounds
  const std::vector<double> medians = medians_of_rounds(times);
  EXPECT_NEAR(medians[1] / medians[0], 1.1, 1e-12);
  EXPECT_NEAR(medians[2] / medians[0], 2.0, 1e-12);
}

TEST(MediansOfRounds, OneAloneHasItsMedian) { EXPECT_EQ(medians_of_rounds({{4, 9, 5}}), (std::vector<double>{5})); }

}  // namespace
}  // namespace lumen::search
