// Whole programs against each other, on a device whose times are made up: with those of a machine that others use, too.
#include "lumen/search/finalists.h"

#include <gtest/gtest.h>

#include <random>

#include "lumen/hlir/ops.h"
#include "lumen/ir/text.h"
#include "tests/support/clockwork.h"

namespace lumen::search {
namespace {

using tests::Clock;

bool is_other(const Program& program) { return program.kernels[0].schedule == "other"; }

class RacePrograms : public ::testing::Test {
 protected:
  RacePrograms() {
    const auto graph =
        parse("lumen 1\n%x = Input() :name \"x\" :shape [4]\n%y = Sqrt(%x)\noutput \"y\" = %y\n", hlir_ops());
    for (const std::string name : {"first", "other"}) {
      Program& program = programs_.emplace_back();
      program.graph = graph.value();
      program.kernels.push_back({graph.value(), {}, name});
    }
  }
  Finalists race(const Device& device) {
    const Program* const programs[] = {&programs_[0], &programs_[1]};
    return race_programs(programs, device, {{}, &db_}).value();
  }

  std::vector<Program> programs_;
  TuningDb db_ = TuningDb::open(":memory:").value();
};

// A trial takes up to a fifth longer than it should, whoever it is of.
class Noise {
 public:
  double operator()() { return 1 + 0.2 * std::uniform_real_distribution<>(0, 1)(random_); }

 private:
  std::mt19937_64 random_{7};
};

TEST_F(RacePrograms, TheFasterOneWins) {
  const Clock clock([](const Program& program, int64_t) { return is_other(program) ? 0.97 : 1.0; });
  const Finalists found = race(clock);
  EXPECT_EQ(found.fastest, 1u);
  EXPECT_DOUBLE_EQ(found.seconds[0], 1.0);
  EXPECT_DOUBLE_EQ(found.seconds[1], 0.97);
}

TEST_F(RacePrograms, WhatIsHardlyFasterDoesNot) {
  const Clock clock([](const Program& program, int64_t) { return is_other(program) ? 0.998 : 1.0; });
  EXPECT_EQ(race(clock).fastest, 0u);
}

// At first the other one is ahead by chance.
TEST_F(RacePrograms, ChanceDecidesNothing) {
  Noise noise;
  const Clock clock(
      [&](const Program& program, int64_t trial) { return noise() * (is_other(program) && trial < 12 ? 0.96 : 1); });
  EXPECT_EQ(race(clock).fastest, 0u);
}

// Where trials differ by more than programs do, more of them are made until it is clear.
TEST_F(RacePrograms, MoreTrialsDecide) {
  Noise noise;
  int64_t most = 0;
  const Clock clock([&](const Program& program, int64_t trial) {
    most = std::max(most, trial);
    return noise() * (is_other(program) ? 0.98 : 1);
  });
  EXPECT_EQ(race(clock).fastest, 1u);
  EXPECT_GT(most, 20);
}

// What slows the machine slows both of a round.
TEST_F(RacePrograms, SlowRoundsDoNotMatter) {
  const Clock clock([](const Program& program, int64_t trial) {
    return (is_other(program) ? 0.97 : 1.0) * (trial % 3 == 1 ? 4 : 1);
  });
  EXPECT_EQ(race(clock).fastest, 1u);
}

TEST_F(RacePrograms, IsRunOnce) {
  Noise noise;
  const Clock clock([&](const Program& program, int64_t) { return noise() * (is_other(program) ? 0.95 : 1); });
  const Finalists first = race(clock), again = race(clock);
  EXPECT_EQ(clock.builds, 1);
  EXPECT_EQ(first.fastest, again.fastest);
  EXPECT_EQ(first.seconds, again.seconds);
}

TEST_F(RacePrograms, TheSameProgramsNeedNone) {
  programs_[1] = programs_[0];
  const Clock clock([](const Program&, int64_t) { return 1.0; });
  EXPECT_TRUE(race(clock).seconds.empty());
  EXPECT_EQ(clock.builds, 0);
}

}  // namespace
}  // namespace lumen::search
