#include "lumen/search/fusion_lookup.h"

#include <gtest/gtest.h>

#include <cmath>

#include "lumen/search/fusion_guide.h"

namespace lumen::search {
namespace {

// Fused times are rows * width / 1000, unfused ones three times that.
FusionProfile rows_and_batches() {
  FusionProfile profile;
  const auto add = [&](int64_t batch, int64_t seq, int64_t width) {
    const double time = static_cast<double>(batch * seq * width) / 1000;
    profile.patterns["gelu"][{batch, seq, width}] = {time, 3 * time, 0.1, 0.2};
  };
  for (const int64_t width : {1024, 4096}) {
    for (const int64_t seq : {1, 16, 256}) add(1, seq, width);
    for (const int64_t batch : {2, 8}) add(batch, 1, width);
  }
  return profile;
}

FusionFound found_at(const FusionShape& shape) { return look_up(rows_and_batches(), "gelu", shape).value(); }

TEST(FusionLookup, knows_what_it_does_not_know) {
  EXPECT_FALSE(look_up(rows_and_batches(), "silu", {1, 1, 1024}));
  EXPECT_FALSE(look_up(rows_and_batches(), "gelu", {1, 1024}));
  EXPECT_FALSE(look_up(FusionProfile{.patterns = {{"gelu", {}}}}, "gelu", {1, 1, 1024}));
}

TEST(FusionLookup, takes_what_was_measured) {
  const FusionFound found = found_at({1, 16, 4096});
  EXPECT_EQ(found.source, FusionSource::exact);
  EXPECT_EQ(found.times.fused, 16 * 4096 / 1000.0);
}

// Times that are powers of the dims come out exactly, in one dim and in two.
TEST(FusionLookup, interpolates_in_between) {
  for (const FusionShape& shape : {FusionShape{1, 64, 1024}, {1, 64, 2048}, {1, 100, 3000}, {4, 1, 1500}}) {
    const FusionFound found = found_at(shape);
    const double expected = static_cast<double>(shape[0] * shape[1] * shape[2]) / 1000;
    EXPECT_EQ(found.source, FusionSource::interpolated) << shape_text(shape);
    EXPECT_NEAR(found.times.fused, expected, 1e-9 * expected) << shape_text(shape);
    EXPECT_NEAR(found.times.unfused, 3 * expected, 1e-9 * expected) << shape_text(shape);
  }
}

// The nearest box counts: seq 4 is between 1 and 16, and not between 1 and 256.
TEST(FusionLookup, interpolates_in_the_smallest_box) {
  FusionProfile profile;
  for (const auto& [seq, time] : {std::pair<int64_t, double>{1, 1}, {16, 4}, {256, 1000}}) {
    profile.patterns["gelu"][{1, seq, 64}] = {time, time, 0, 0};
  }
  const FusionFound found = look_up(profile, "gelu", {1, 4, 64}).value();
  EXPECT_NEAR(found.times.fused, 2, 1e-12);  // halfway between 1 and 16 in the logarithm: the root of 1 * 4
}

// No box of measured shapes holds several texts of several tokens.
TEST(FusionLookup, takes_the_nearest_outside) {
  const FusionFound beside = found_at({4, 16, 1024});
  EXPECT_EQ(beside.source, FusionSource::nearest);
  EXPECT_EQ(beside.at, (FusionShape{1, 16, 1024}));
  const FusionFound beyond = found_at({1, 8192, 4096});
  EXPECT_EQ(beyond.source, FusionSource::nearest);
  EXPECT_EQ(beyond.at, (FusionShape{1, 256, 4096}));
  EXPECT_EQ(beyond.times.fused, 256 * 4096 / 1000.0);
}

TEST(FusionLookup, fuses_what_gains_more_than_the_margin) {
  EXPECT_TRUE(should_fuse({1, 1.01, 0, 0}, 0));
  EXPECT_FALSE(should_fuse({1, 1, 0, 0}, 0));
  EXPECT_FALSE(should_fuse({1, 0.9, 0, 0}, 0));
  EXPECT_FALSE(should_fuse({1, 1.04, 0, 0}, 0.05));
  EXPECT_TRUE(should_fuse({1, 1.06, 0, 0}, 0.05));
}

TEST(FusionLookup, shapes_have_three_dims) {
  const auto shape = [](std::vector<int64_t> dims) { return profiled_shape(dims); };
  EXPECT_EQ(shape({}), (FusionShape{1, 1, 1}));
  EXPECT_EQ(shape({7}), (FusionShape{1, 1, 7}));
  EXPECT_EQ(shape({5, 7}), (FusionShape{1, 5, 7}));
  EXPECT_EQ(shape({2, 5, 7}), (FusionShape{2, 5, 7}));
  EXPECT_EQ(shape({2, 3, 5, 7}), (FusionShape{6, 5, 7}));
}

TEST(FusionLog, has_a_line_for_each_group) {
  const std::vector<TriedCut> cuts = {{"A", "a1", "a2", 1e-3, 2e-3, true, false},
                                      {"A", "a3", "a4", 1e-3, 1e-3, false, false},
                                      {"B", "b1", "b2", 2e-3, 1.9e-3, true, false},
                                      {"B", "b3", "b4", 2e-3, 1e-3, true, true}};
  EXPECT_EQ(print_decisions(decisions_of(cuts, true)),
            "fused    A: 1 ms fused, 2 ms unfused (measured: two kernels are a1 and a2)\n"
            "unfused  B: 2 ms fused, 1 ms unfused (measured: two kernels are b3 and b4)\n");
  const std::vector<TriedCut> undone = {{"C", "c1", "c2", 2e-3, 1e-3, true, false, true}};
  EXPECT_EQ(
      print_decisions(decisions_of(undone, true)),
      "fused    C: 2 ms fused, 1 ms unfused (measured: two kernels are c1 and c2; the whole program was slower for "
      "its cuts)\n");
  const std::vector<UncutGroup> whole = {{"D", false}, {"E", true}};
  EXPECT_EQ(print_decisions(decisions_of(whole)),
            "fused    D (no cut: nothing in it is computed twice)\n"
            "fused    E (estimated: two kernels would take half as long again)\n");
  FusionDecision decision{
      .what = "gelu", .shape = "[1, 2, 3]", .fused = 1, .unfused = 2, .source = "exact", .fuse = true};
  decision.where = "seq=1";
  const FusionDecision twice[] = {decision, decision};
  EXPECT_EQ(print_decisions(twice), "fused    seq=1: gelu [1, 2, 3]: 1 ms fused, 2 ms unfused (exact) x2\n");
}

}  // namespace
}  // namespace lumen::search
