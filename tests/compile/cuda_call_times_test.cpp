// Times of calls, of what launches of a GPU noted.
#include "lumen/backend/cuda/call_times.h"

#include <gtest/gtest.h>

namespace lumen::cuda {
namespace {

std::vector<CallTime> calls_of_bytes(std::initializer_list<double> all) {
  std::vector<CallTime> calls;
  for (const double bytes : all) calls.push_back({.name = "k", .schedule = "map", .work = {.bytes = bytes}});
  return calls;
}

TEST(CudaCallTimes, counts_noted_ends_from_the_start) {
  const std::vector<uint64_t> noted = {1'000'005'000, 1'000'007'000, 1'000'010'000};
  std::vector<Launched> launched = {{0}, {1}, {2}};
  find_ends(noted, 999'999'000, launched);
  EXPECT_NEAR(launched[0].end, 6e-6, 1e-12);
  EXPECT_NEAR(launched[1].end, 8e-6, 1e-12);
  EXPECT_NEAR(launched[2].end, 11e-6, 1e-12);
}

TEST(CudaCallTimes, take_nothing_where_nothing_was_noted) {
  const std::vector<uint64_t> noted = {0, 1900, 0, 4900};
  std::vector<Launched> launched = {{0}, {1}, {2}, {3}};
  find_ends(noted, 900, launched);
  EXPECT_NEAR(launched[0].end, 0, 1e-12);
  EXPECT_NEAR(launched[1].end, 1e-6, 1e-12);
  EXPECT_NEAR(launched[2].end, 1e-6, 1e-12);
  EXPECT_NEAR(launched[3].end, 4e-6, 1e-12);
}

TEST(CudaCallTimes, take_the_last_of_a_launch) {
  const std::vector<uint64_t> noted = {1000, 3000, 2000};
  std::vector<Launched> launched = {{0}, {1, 2}};
  find_ends(noted, 500, launched);
  EXPECT_NEAR(launched[1].end, 2.5e-6, 1e-12);
}

TEST(CudaCallTimes, add_up_to_the_run) {
  const std::vector<Launched> launched = {{0, 1, 2.0}, {1, 2, 5.0}, {3, 1, 4.5}, {4, 1, 6.0}};
  std::vector<CallTime> calls = calls_of_bytes({10, 10, 20, 10, 10});
  divide_time(launched, 100, calls);
  const std::vector<double> seconds = {2, 1, 2, 0, 1};  // the fourth ended before the second launch did
  const std::vector<double> starts = {100, 102, 103, 105, 105};
  double all = 0;
  for (size_t k = 0; k < calls.size(); ++k) {
    EXPECT_NEAR(calls[k].seconds, seconds[k], 1e-12) << k;
    EXPECT_NEAR(calls[k].start, starts[k], 1e-12) << k;
    all += calls[k].seconds;
  }
  EXPECT_NEAR(all, 6, 1e-12);
}

TEST(CudaCallTimes, share_a_launch_that_moves_nothing) {
  const std::vector<Launched> launched = {{0, 2, 2.0}};
  std::vector<CallTime> calls = calls_of_bytes({0, 0});
  divide_time(launched, 0, calls);
  EXPECT_NEAR(calls[0].seconds, 1, 1e-12);
  EXPECT_NEAR(calls[1].seconds, 1, 1e-12);
}

}  // namespace
}  // namespace lumen::cuda
