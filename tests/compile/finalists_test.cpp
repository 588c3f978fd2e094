// Whole programs against each other.
#include "lumen/search/finalists.h"

#include <gtest/gtest.h>

#include "lumen/backend/cpu/cpu_device.h"
#include "lumen/frontend/ops.h"
#include "lumen/search/lower.h"
#include "lumen/search/rewrite.h"

namespace lumen::search {
namespace {

class FinalistsTest : public ::testing::Test {
 protected:
  FinalistsTest() {
    Graph graph;
    softmax(graph.input("x", {64, 64}), -1).output("y");
    const std::shared_ptr<const Graph> plain = rewrite(graph).value().candidates[0].graph;
    Tuner tuner(*device_, TuneOptions{{}, false, nullptr});
    apart_ = lower(plain, FusionPolicy::never, tuner).value().program;
    together_ = lower(plain, FusionPolicy::always, tuner).value().program;
  }

  Finalists race(const Program& first, const Program& second) {
    const Program* const programs[] = {&first, &second};
    return race_programs(programs, *device_, {{}, &db_, nullptr}).value();
  }
  void know(double first, double second) {
    const std::vector<TuningEntry> entries = db_.list().value();
    for (TuningEntry entry : entries) {
      entry.seconds = entry.schedule == program_hash(apart_) ? first : second;
      ASSERT_TRUE(db_.put(entry).ok());
    }
  }

  std::shared_ptr<const Device> device_ = cpu::CpuDevice::find({"-O1", "-w"}).value();
  TuningDb db_ = TuningDb::open(":memory:").value();
  Program apart_, together_;
};

TEST_F(FinalistsTest, are_not_run_when_they_are_the_same) {
  const Finalists same = race(apart_, apart_);
  EXPECT_EQ(same.fastest, 0u);
  EXPECT_TRUE(same.seconds.empty());
  EXPECT_TRUE(db_.list().value().empty());
}

TEST_F(FinalistsTest, are_measured_once) {
  ASSERT_NE(program_hash(apart_), program_hash(together_));
  const Finalists first = race(apart_, together_);
  ASSERT_EQ(first.seconds.size(), 2u);
  EXPECT_GT(first.seconds[0], 0);
  EXPECT_EQ(db_.list().value().size(), 2u);
  EXPECT_EQ(race(apart_, together_).seconds, first.seconds);
}

TEST_F(FinalistsTest, keep_the_first_unless_another_is_clearly_faster) {
  race(apart_, together_);
  know(1.0, 0.998);
  EXPECT_EQ(race(apart_, together_).fastest, 0u);
  know(1.0, 0.9);
  EXPECT_EQ(race(apart_, together_).fastest, 1u);
  know(0.9, 1.0);
  EXPECT_EQ(race(apart_, together_).fastest, 0u);
}

}  // namespace
}  // namespace lumen::search
