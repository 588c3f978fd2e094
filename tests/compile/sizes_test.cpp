// One program at many sizes, in turn: what a device keeps of one size serves others of its bucket, and no result may
// depend on that.
#include <gtest/gtest.h>

#include <random>

#include "lumen/backend/reference/interpreter.h"
#include "lumen/compile.h"
#include "lumen/frontend/ops.h"
#include "tests/support/graphs/values.h"

namespace lumen {
namespace {

class Sizes : public ::testing::TestWithParam<FusionPolicy> {};

// Whole numbers: every way to compute it gives the same bits.
std::shared_ptr<Graph> make_graph() {
  auto graph = std::make_shared<Graph>();
  const Expr n = graph->dim("n", 1, 700), m = graph->dim("m", 1, 700);
  const Tensor x = graph->input("x", {n, 32}), y = graph->input("y", {m, 32}), w = graph->input("w", {32, 48});
  const Tensor rows = minimum(relu(matmul(relu(x), w)), 3.0F);
  const Tensor both = minimum(matmul(x, transpose(y, 0, 1)), 5.0F);
  rows.output("rows");
  matmul(rows, transpose(w, 0, 1)).output("back");
  sum(rows, {0}).output("columns");
  max(both, {-1}).output("top");
  argmax(both, 0).output("best");
  cumsum(sum(both, {1}), 0).output("running");
  matmul(both, y).output("mixed");
  return graph;
}

TEST_P(Sizes, do_not_depend_on_those_before) {
  CompileOptions options = CompileOptions::from_flags();
  options.fusion = GetParam();
  options.measure = GetParam() == FusionPolicy::profile;
  const std::shared_ptr<Graph> graph = make_graph();
  Session session = compile(*graph, options);
  std::mt19937_64 random(std::random_device{}());
  for (const auto& [n, m] : std::vector<std::pair<int64_t, int64_t>>{{97, 35},
                                                                     {104, 36},
                                                                     {100, 33},
                                                                     {100, 1},
                                                                     {1, 100},
                                                                     {101, 34},
                                                                     {208, 64},
                                                                     {207, 64},
                                                                     {17, 18},
                                                                     {97, 35},
                                                                     {600, 9},
                                                                     {640, 9},
                                                                     {105, 3}}) {
    DimValues dims;
    dims.set("n", n);
    dims.set("m", m);
    std::vector<HostTensor> inputs;
    for (const NodeId id : graph->inputs()) {
      const Node& node = (*graph)[id];
      HostTensor tensor = HostTensor::poisoned(node.type.dtype, node.type.shape.evaluate(dims).value());
      for (Lane& lane : tensor.lanes) lane.f = static_cast<double>(static_cast<int64_t>(random() % 7) - 3);
      session.set(node.as<Input>().name.str(), tensor);
      inputs.push_back(std::move(tensor));
    }
    std::vector<const HostTensor*> given;
    for (const HostTensor& input : inputs) given.push_back(&input);
    const std::vector<HostTensor> wanted = interpret(*graph, given, dims).value();
    session.execute();
    for (size_t k = 0; k < wanted.size(); ++k) {
      const std::string name = graph->outputs()[k].name.str();
      EXPECT_TRUE(testing::same(session.tensor(name), wanted[k])) << name << " of " << n << " and " << m;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Ways, Sizes,
                         ::testing::Values(FusionPolicy::never, FusionPolicy::always, FusionPolicy::profile),
                         [](const auto& way) {
                           return way.param == FusionPolicy::never    ? "never"
                                  : way.param == FusionPolicy::always ? "always"
                                                                      : "profile";
                         });

}  // namespace
}  // namespace lumen
