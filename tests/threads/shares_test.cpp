// Shares of work: every piece once, whoever does it; one that is slow keeps little.
#include "lumen/backend/cpu/shares.h"

#include <gtest/gtest.h>

#include <vector>

#include "lumen/base/thread_pool.h"

namespace lumen::cpu {
namespace {

TEST(Shares, OneThreadTakesItsOwnInHalvesThenTheOthers) {
  Shares shares(2);
  shares.begin(32, 2);
  std::vector<int> done(32);
  std::vector<int64_t> sizes;
  for (auto range = shares.next(0); !range.empty(); range = shares.next(0)) {
    sizes.push_back(range.end - range.begin);
    for (int64_t piece = range.begin; piece < range.end; ++piece) ++done[static_cast<size_t>(piece)];
  }
  EXPECT_EQ(done, std::vector<int>(32, 1));
  EXPECT_EQ(std::vector<int64_t>(sizes.begin(), sizes.begin() + 4), (std::vector<int64_t>{8, 4, 2, 2}));
  EXPECT_TRUE(shares.next(1).empty());
}

TEST(Shares, RangesOfNobodyAreEmpty) {
  Shares shares(3);
  shares.begin(0, 3);
  for (int t = 0; t < 3; ++t) EXPECT_TRUE(shares.next(t).empty());
  shares.begin(2, 2);  // after larger rounds
  EXPECT_FALSE(shares.next(1).empty());
  EXPECT_FALSE(shares.next(1).empty());
  EXPECT_TRUE(shares.next(0).empty());
}

// Plain cells: a piece done twice is a wrong number here and a report under TSan.
TEST(Shares, EveryPieceOnceByAllThreads) {
  ThreadPool pool(3);
  Shares shares(pool.threads());
  for (int64_t round = 0; round < 300; ++round) {
    const int64_t pieces = round * round % 517 + 3;
    std::vector<int> done(static_cast<size_t>(pieces));
    shares.begin(pieces, pool.threads());
    pool.run(pool.threads(), [&](int64_t share, int) {
      for (auto range = shares.next(static_cast<int>(share)); !range.empty();
           range = shares.next(static_cast<int>(share))) {
        for (int64_t piece = range.begin; piece < range.end; ++piece) ++done[static_cast<size_t>(piece)];
      }
    });
    ASSERT_EQ(done, std::vector<int>(static_cast<size_t>(pieces), 1)) << pieces;
  }
}

TEST(Shares, WhoIsSlowKeepsLittle) {
  Shares shares(2);
  shares.begin(64, 2);
  const Shares::Range held = shares.next(1);  // and never comes back
  int64_t others = 0;
  for (auto range = shares.next(0); !range.empty(); range = shares.next(0)) others += range.end - range.begin;
  EXPECT_EQ(held.end - held.begin, 16);
  EXPECT_EQ(others, 48);
}

}  // namespace
}  // namespace lumen::cpu
