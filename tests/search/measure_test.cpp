// Medians of competitors whose trials took turns on a machine that others slow down for some rounds; what they read.
#include "lumen/search/measure.h"

#include <gtest/gtest.h>

#include <set>

#include "lumen/hlir/binary.h"
#include "lumen/hlir/indexing.h"
#include "lumen/hlir/view.h"

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

// Keeps what it is given.
class Reader : public Executable {
 public:
  Expected<void> prepare(std::span<const int64_t>) override { return {}; }
  Expected<void> run(std::span<const void* const> inputs, std::span<void* const>) override {
    for (size_t k = 0; k < 2; ++k) {
      const auto* const first = static_cast<const int32_t*>(inputs[k]);
      seen[k].insert(first, first + 100);
    }
    return {};
  }

  std::set<int32_t> seen[2];
};

TEST(Measure, IndicesAreSpreadOverWhatTheyChooseFrom) {
  Graph graph;
  const auto input = [&](const char* name, DType dtype, Shape shape) {
    return graph.add_input({name, InputKind::data, dtype, shape}).value();
  };
  const auto output = [&](const char* name, const auto& op, const std::vector<NodeId>& operands) {
    graph.add_output(name, graph.add(op, operands).value()).value();
  };
  const NodeId chosen = input("chosen", i32, {100}), other = input("other", i32, {100});
  const NodeId turned =
      graph.add(hlir::View{View({50, 2}, Expr::index(0, 50) + Expr::index(1, 2) * 50)}, std::vector{chosen}).value();
  output("y", hlir::Gather{0}, {input("table", f32, {7, 4}), turned});
  output("z", hlir::Gather{0}, {input("longer", f32, {30, 4}), chosen});
  output("w", hlir::Add{}, {other, other});
  Reader reader;
  const std::vector<Expected<Timing>> timings = measure({{&reader}, &graph, {}});
  ASSERT_TRUE(timings[0].ok()) << timings[0].diag().str();
  EXPECT_EQ(reader.seen[0], (std::set<int32_t>{0, 1, 2, 3, 4, 5, 6})) << "in both tables";
  EXPECT_EQ(reader.seen[1], (std::set<int32_t>{0, 1}));
}

}  // namespace
}  // namespace lumen::search
