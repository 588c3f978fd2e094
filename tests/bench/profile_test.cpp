#include "bench/suite/profile.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace lumen::bench {
namespace {

Limits some_limits() {
  Limits limits;
  limits.copies = {{1e3, 40e9}, {1e9, 10e9}};
  limits.f32_flops = 100e9;
  limits.bf16_flops = 1000e9;
  return limits;
}

CallTime call(const std::string& name, double seconds, Work work) {
  CallTime time;
  time.name = name;
  time.schedule = "map";
  time.work = work;
  time.seconds = seconds;
  return time;
}

// Three runs of two kernels, one of which is called twice.
Profile sample() {
  Profile profile;
  for (const double slower : {1.0, 3.0, 2.0}) {
    const std::vector<CallTime> calls = {call("add", 1e-3 * slower, {1e7, 1e6}), call("add", 1e-3 * slower, {1e7, 1e6}),
                                         call("product", 6e-3 * slower, {1e3, 120e6, DType::bf16})};
    profile.add_run(calls, 10e-3 * slower);
  }
  return profile;
}

TEST(Profile, takes_the_median_of_the_runs) {
  const Profile profile = sample();
  const std::vector<KernelProfile> kernels = profile.kernels();
  ASSERT_EQ(kernels.size(), 2U);
  EXPECT_EQ(kernels[0].name, "product");  // it takes longest
  EXPECT_DOUBLE_EQ(kernels[0].seconds, 12e-3);
  EXPECT_EQ(kernels[1].calls, 2);
  EXPECT_DOUBLE_EQ(kernels[1].seconds, 4e-3);
  EXPECT_DOUBLE_EQ(kernels[1].work.bytes, 2e7);
  EXPECT_DOUBLE_EQ(profile.wall(), 20e-3);
  EXPECT_NEAR(profile.between(), 4e-3, 1e-12);
}

TEST(Profile, shares_are_of_what_the_machine_does) {
  const std::vector<KernelProfile> kernels = sample().kernels();
  const Limits limits = some_limits();
  EXPECT_NEAR(kernels[0].compute_share(limits), 120e6 / 12e-3 / 1000e9, 1e-12);  // of the bf16 tiles
  EXPECT_NEAR(kernels[1].compute_share(limits), 2e6 / 4e-3 / 100e9, 1e-12);
  EXPECT_NEAR(kernels[1].memory_share(limits), 2e7 / 4e-3 / 10e9, 1e-12);  // one call moves 10 MB
}

TEST(Profile, prints_a_table) {
  const std::string table = profile_table(sample(), some_limits());
  EXPECT_NE(table.find("  12.0 ms   60.0 %      1     0.0     0 %     10.0     1 %  product  [map]\n"),
            std::string::npos)
      << table;
  EXPECT_NE(table.find("  4.00 ms   20.0 %      2     5.0    50 %      0.5     0 %  add  [map]\n"), std::string::npos)
      << table;
  EXPECT_NE(table.find("  4.00 ms   20.0 %                                          between kernels\n"),
            std::string::npos)
      << table;
  EXPECT_TRUE(
      table.ends_with("  20.0 ms  100.0 %      3                                   in all, the median of 3 runs\n"))
      << table;
  const std::string coarse = profile_table(sample(), some_limits(), 0.3);
  EXPECT_EQ(coarse.find("add"), std::string::npos);
  EXPECT_NE(coarse.find("      2                                   others, each small\n"), std::string::npos) << coarse;
}

TEST(Profile, prints_json) {
  const nlohmann::json json = nlohmann::json::parse(profile_json(sample(), some_limits()));
  EXPECT_EQ(json["runs"], 3);
  EXPECT_DOUBLE_EQ(json["kernels"][0]["share"], 0.6);
  EXPECT_DOUBLE_EQ(json["kernels"][1]["mbu"], 0.5);
  EXPECT_DOUBLE_EQ(json["kernels"][1]["gb_per_second"], 5);
  EXPECT_DOUBLE_EQ(json["kernels"][0]["gflop_per_second"], 10);
  EXPECT_DOUBLE_EQ(json["between_kernels_seconds"], 4e-3);
}

}  // namespace
}  // namespace lumen::bench
