#include "lumen/backend/reference/interpreter.h"

#include <random>

#include "lumen/hlir/binary.h"
#include "lumen/hlir/leaves.h"
#include "lumen/hlir/reduce.h"
#include "lumen/hlir/view.h"
#include "tests/hlir/naive_evaluator.h"
#include "tests/support/counted_memory.h"
#include "tests/support/graphs/random_graph.h"
#include "tests/support/graphs/values.h"

namespace lumen::testing {
namespace {

TEST(Interpreter, RefusesInputsThatDoNotFit) {
  Graph graph;
  const Expr n = graph.dim("n", 1, 8);
  const NodeId x = graph.add_input({"x", InputKind::data, DType::f32, Shape{2, n}}).value();
  graph.add_output("y", x).value();
  const HostTensor good{DType::f32, {2, 3}, std::vector<Lane>(6)};
  const HostTensor narrow{DType::f16, {2, 3}, std::vector<Lane>(6)};
  const auto failure = [&](const std::vector<const HostTensor*>& inputs, const DimValues& dims) {
    return interpret(graph, inputs, dims).diag().str();
  };
  EXPECT_EQ(failure({}, {{"n", 3}}), "the graph has 1 inputs, got 0");
  EXPECT_EQ(failure({&good}, {{"n", 4}}), "[Input] \"x\" is f32[2,4], got f32[2,3]");
  EXPECT_EQ(failure({&narrow}, {{"n", 3}}), "[Input] \"x\" is f32[2,3], got f16[2,3]");
  EXPECT_FALSE(interpret(graph, std::vector{&good}, {}).ok());
  EXPECT_FALSE(interpret(graph, std::vector{&good}, {{"n", 9}}).ok());
}

TEST(Interpreter, AgreesWithNaiveEvaluation) {
  constexpr uint64_t kFirstSeed = 20240601;
  size_t nodes = 0;
  for (uint64_t seed = kFirstSeed; seed < kFirstSeed + 2500; ++seed) {
    const RandomGraph random = make_random_graph(seed);
    expect_round_trip(*random.graph, hlir_ops());
    std::vector<const HostTensor*> inputs;
    for (const HostTensor& input : random.inputs) inputs.push_back(&input);
    const auto wanted = evaluate_naively(*random.graph, inputs, random.dims);
    const auto got = interpret(*random.graph, inputs, random.dims);
    ASSERT_TRUE(wanted.ok()) << wanted.diag().str() << "\nseed " << seed << "\n" << print(*random.graph);
    ASSERT_TRUE(got.ok()) << got.diag().str() << "\nseed " << seed << "\n" << print(*random.graph);
    for (size_t k = 0; k < wanted->size(); ++k) {
      ASSERT_TRUE(same((*got)[k], (*wanted)[k])) << "seed " << seed << ", output " << k << "\n" << print(*random.graph);
    }
    nodes += random.graph->order().size();
  }
  EXPECT_GT(nodes, 20000U) << "the graphs have become too small to test anything";
}

// Lines longer than one run, along and across the reduced axis, both cut at odd places.
TEST(Interpreter, LongAxes) {
  const std::vector<std::vector<int64_t>> shapes{{3, 2500}, {2500, 3}, {1, 5000}, {5000, 1}, {2049, 2}, {40, 1100}};
  std::mt19937_64 random(7);
  for (const std::vector<int64_t>& dims : shapes) {
    for (const int64_t axis : {0, 1}) {
      Graph graph;
      const NodeId x = graph.add_input({"x", InputKind::data, DType::f64, Shape(dims)}).value();
      const NodeId square = graph.add(hlir::Mul{}, std::vector{x, x}).value();
      graph.add_output("sum", graph.add(hlir::SumReduce{axis}, std::vector{square}).value()).value();
      graph.add_output("at", graph.add(hlir::ArgMax{axis}, std::vector{x}).value()).value();
      HostTensor given = HostTensor::poisoned(DType::f64, dims);
      for (Lane& lane : given.lanes) lane.f = static_cast<double>(random() % 1000003) / 1000;
      const std::vector<const HostTensor*> inputs{&given};
      const auto got = interpret(graph, inputs, {}).value();
      const auto wanted = evaluate_naively(graph, inputs, {}).value();
      EXPECT_TRUE(same(got[0], wanted[0]));
      EXPECT_TRUE(same(got[1], wanted[1]));
    }
  }
}

// Stored whole, the product would take 512 MiB, and its two views as much each.
TEST(Interpreter, ProductsUnderASumAreNotStored) {
  constexpr int64_t kSize = 1 << 15;
  Graph graph;
  const Shape square{1, kSize, kSize / 16};
  const std::vector<Expr> at = square.coordinates();
  const NodeId x = graph.add(hlir::Iota{Shape{kSize}, Expr::index(0, kSize), DType::i64}, {}).value();
  const NodeId a = graph.add(hlir::View{View(square, at[1])}, std::vector{x}).value();
  const NodeId b = graph.add(hlir::View{View(square, at[2])}, std::vector{x}).value();
  const NodeId product = graph.add(hlir::Mul{}, std::vector{a, b}).value();
  const NodeId sums = graph.add(hlir::SumReduce{2}, std::vector{product}).value();
  graph.add_output("y", graph.add(hlir::SumReduce{1}, std::vector{sums}).value()).value();
  const auto triangle = [](int64_t n) { return n * (n - 1) / 2; };
  const int64_t wanted = triangle(kSize) * triangle(kSize / 16);
  largest_allocation.exchange(0);
  EXPECT_TRUE(same(interpret(graph, {}, {}).value()[0], ints(DType::i64, {1}, {wanted})));
  EXPECT_LT(largest_allocation.exchange(0), size_t{1} << 20);
}

// Neither are reductions that only a reduction reads: here 128 MiB, for one number.
TEST(Interpreter, ReductionsUnderReductionsAreNotStored) {
  constexpr int64_t kSize = 1 << 12;
  Graph graph;
  const Shape cube{kSize, kSize, 2};
  const std::vector<Expr> at = cube.coordinates();
  NodeId node = graph.add(hlir::Iota{cube, at[0] + at[1] + at[2], DType::i64}, {}).value();
  for (const int64_t axis : {2, 0, 0}) node = graph.add(hlir::SumReduce{axis}, std::vector{node}).value();
  graph.add_output("y", node).value();
  const int64_t wanted = kSize * kSize * (2 * (kSize - 1) + 1);
  largest_allocation.exchange(0);
  EXPECT_TRUE(same(interpret(graph, {}, {}).value()[0], ints(DType::i64, {}, {wanted})));
  EXPECT_LT(largest_allocation.exchange(0), size_t{1} << 20);
}

TEST(Interpreter, DeepChains) {
  Graph graph;
  const NodeId one = graph.add(hlir::Iota{Shape{2}, 1, DType::i64}, {}).value();
  NodeId sum = graph.add_input({"x", InputKind::data, DType::i64, Shape{2}}).value();
  for (int k = 0; k < 20000; ++k) sum = graph.add(hlir::Add{}, std::vector{sum, one}).value();
  graph.add_output("y", sum).value();
  const HostTensor x = row(DType::i64, {0, 5});
  EXPECT_TRUE(same(interpret(graph, std::vector{&x}, {}).value()[0], row(DType::i64, {20000, 20005})));
}

TEST(Interpreter, OutputsMayRepeatAndBeInputs) {
  Graph graph;
  const NodeId x = graph.add_input({"x", InputKind::data, DType::i64, Shape{2}}).value();
  const NodeId y = graph.add(hlir::Add{}, std::vector{x, x}).value();
  graph.add_output("x", x).value();
  graph.add_output("y", y).value();
  graph.add_output("again", y).value();
  const HostTensor given = row(DType::i64, {1, 2});
  const auto outputs = interpret(graph, std::vector{&given}, {}).value();
  EXPECT_TRUE(same(outputs[0], given));
  EXPECT_TRUE(same(outputs[1], row(DType::i64, {2, 4})));
  EXPECT_TRUE(same(outputs[2], row(DType::i64, {2, 4})));
}

}  // namespace
}  // namespace lumen::testing
