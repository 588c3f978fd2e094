#include "lumen/base/log.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

namespace lumen {
namespace {

TEST(Log, LevelsAboveTheFlagAreSilentAndCostNothing) {
  if (flags().debug != 0) GTEST_SKIP() << "LUMEN_DEBUG is set";
  int made = 0;
  const auto text = [&] {
    ++made;
    return std::string("hidden");
  };
  ::testing::internal::CaptureStderr();
  LUMEN_LOG(1, text());
  log_line(4, "hidden");
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
  EXPECT_EQ(made, 0);
}

TEST(Log, LevelZeroIsAlwaysShown) {
  ::testing::internal::CaptureStderr();
  LUMEN_LOG(0, "the database is read-only");
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "[lumen] the database is read-only\n");
}

TEST(Log, LinesOfThreadsAreNotTorn) {
  ::testing::internal::CaptureStderr();
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([] {
      for (int i = 0; i < 100; ++i) log_line(0, "a line of some length, written by one of four threads");
    });
  }
  for (std::thread& thread : threads) thread.join();
  const std::string line = "[lumen] a line of some length, written by one of four threads\n";
  std::string expected;
  for (int i = 0; i < 400; ++i) expected += line;
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), expected);
}

}  // namespace
}  // namespace lumen
