#include "lumen/hlir/loop.h"

#include "lumen/hlir/binary.h"
#include "lumen/hlir/leaves.h"
#include "lumen/hlir/reduce.h"
#include "tests/support/graphs/values.h"

namespace lumen::testing {
namespace {

using hlir::Add, hlir::Iota, hlir::Loop, hlir::Mul, hlir::SumReduce;

// carried c, scanned x, shared s (all f32[2]): c' = (c + x) * s; also gives c + x.
std::shared_ptr<Graph> accumulate_body(DType carried = DType::f32) {
  auto body = std::make_shared<Graph>();
  const NodeId c = body->add_input({"c", InputKind::data, carried, Shape{2}}).value();
  const NodeId x = body->add_input({"x", InputKind::data, carried, Shape{2}}).value();
  const NodeId s = body->add_input({"s", InputKind::data, carried, Shape{2}}).value();
  const NodeId sum = body->add(Add{}, std::vector{c, x}).value();
  body->add_output("next", body->add(Mul{}, std::vector{sum, s}).value()).value();
  body->add_output("sum", sum).value();
  return body;
}

struct Fixture {
  Graph graph;
  Expr trip = graph.dim("trip", 0, 16);
  NodeId c = graph.add_input({"c", InputKind::data, DType::f32, Shape{2}}).value();
  NodeId x = graph.add_input({"x", InputKind::data, DType::f32, Shape{trip, 2}}).value();
  NodeId s = graph.add_input({"s", InputKind::data, DType::f32, Shape{2}}).value();
  Body body = graph.adopt(accumulate_body());

  std::string refusal(const Loop& loop, const std::vector<NodeId>& operands) {
    const Expected<NodeId> node = graph.add(loop, operands);
    return node.ok() ? "no error" : node.diag().str();
  }
};

TEST(Loop, Refuses) {
  Fixture f;
  EXPECT_EQ(f.refusal({f.trip, 1, 1, 0, {}}, {f.c, f.x, f.s}), "[Loop] the body is missing");
  EXPECT_EQ(f.refusal({-1, 1, 1, 0, f.body}, {f.c, f.x, f.s}), "[Loop] -1 is no number of iterations");
  EXPECT_EQ(f.refusal({f.trip, 1, 1, 0, f.body}, {f.c, f.x}), "[Loop] the body has 3 inputs, got 2 operands");
  EXPECT_EQ(f.refusal({f.trip, 2, 2, 0, f.body}, {f.c, f.x, f.s}),
            "[Loop] 3 operands cannot be 2 carried and 2 scanned");
  EXPECT_EQ(f.refusal({f.trip, 1, 1, 2, f.body}, {f.c, f.x, f.s}), "[Loop] result 2 out of range for 2 results");
  EXPECT_EQ(f.refusal({f.trip, 3, 0, 0, f.body}, {f.c, f.c, f.s}),
            "[Loop] the body has 2 outputs for 3 carried values");
  EXPECT_EQ(f.refusal({f.trip, 1, 1, 0, f.body}, {f.x, f.x, f.s}),
            "[Loop] carried operand 0 must be f32[2] for body input \"c\", got f32[trip,2]");
  EXPECT_EQ(f.refusal({f.trip, 1, 1, 0, f.body}, {f.c, f.c, f.s}),
            "[Loop] scanned operand 1 must be f32[trip,2] for body input \"x\", got f32[2]");
  EXPECT_EQ(f.refusal({5, 1, 1, 0, f.body}, {f.c, f.x, f.s}),
            "[Loop] scanned operand 1 must be f32[5,2] for body input \"x\", got f32[trip,2]");
  EXPECT_EQ(f.refusal({f.trip, 1, 1, 0, f.body}, {f.c, f.x, f.x}),
            "[Loop] shared operand 2 must be f32[2] for body input \"s\", got f32[trip,2]");
}

TEST(Loop, RefusesABodyThatChangesTypes) {
  Graph graph;
  auto body = std::make_shared<Graph>();
  const NodeId c = body->add_input({"c", InputKind::data, DType::f32, Shape{2}}).value();
  body->add_output("next", body->add(SumReduce{0}, std::vector{c}).value()).value();
  const NodeId x = graph.add_input({"x", InputKind::data, DType::f32, Shape{2}}).value();
  const Expected<NodeId> node = graph.add(Loop{3, 1, 0, 0, graph.adopt(body)}, std::vector{x});
  EXPECT_EQ(node.diag().str(), "[Loop] body output \"next\" is f32[], but the value it carries on is f32[2]");
}

TEST(Loop, CarriesAndStacks) {
  Fixture f;
  const std::vector<NodeId> operands{f.c, f.x, f.s};
  const NodeId last = f.graph.add(Loop{f.trip, 1, 1, 0, f.body}, operands).value();
  const NodeId sums = f.graph.add(Loop{f.trip, 1, 1, 1, f.body}, operands).value();
  f.graph.add_output("last", last).value();
  f.graph.add_output("sums", sums).value();
  EXPECT_EQ(f.graph[sums].type.str(), "f32[trip,2]");
  expect_round_trip(f.graph, hlir_ops());
  const HostTensor c = row(DType::f32, {1, 2});
  const HostTensor s = row(DType::f32, {2, 10});
  HostTensor x = row(DType::f32, {1, 1, 2, 2, 3, 3});
  x.dims = {3, 2};
  const std::vector<const HostTensor*> inputs{&c, &x, &s};
  const auto outputs = interpret(f.graph, inputs, {{"trip", 3}}).value();
  HostTensor wanted = row(DType::f32, {2, 3, 6, 32, 15, 323});
  wanted.dims = {3, 2};
  EXPECT_TRUE(same(outputs[0], row(DType::f32, {30, 3230})));
  EXPECT_TRUE(same(outputs[1], wanted));

  x = {DType::f32, {0, 2}, {}};
  const auto none = interpret(f.graph, inputs, {{"trip", 0}}).value();
  EXPECT_TRUE(same(none[0], c));
  EXPECT_TRUE(same(none[1], x));
}

TEST(Loop, TwoBodiesOverTheSameOperandsAreTwoLoops) {
  Graph graph;
  const NodeId x = graph.add_input({"x", InputKind::data, DType::i64, Shape{}}).value();
  const auto body = [&](const auto& op) {
    auto result = std::make_shared<Graph>();
    const NodeId c = result->add_input({"c", InputKind::data, DType::i64, Shape{}}).value();
    result->add_output("c", result->add(op, std::vector{c, c}).value()).value();
    return graph.adopt(result);
  };
  graph.add_output("doubled", graph.add(Loop{3, 1, 0, 0, body(Add{})}, std::vector{x}).value()).value();
  graph.add_output("squared", graph.add(Loop{3, 1, 0, 0, body(Mul{})}, std::vector{x}).value()).value();
  graph.add_output("twice", graph.add(Loop{2, 1, 0, 0, body(Mul{})}, std::vector{x}).value()).value();
  const HostTensor two = ints(DType::i64, {}, {2});
  const auto outputs = interpret(graph, std::vector{&two}, {}).value();
  EXPECT_TRUE(same(outputs[0], ints(DType::i64, {}, {16})));
  EXPECT_TRUE(same(outputs[1], ints(DType::i64, {}, {256})));
  EXPECT_TRUE(same(outputs[2], ints(DType::i64, {}, {16})));
}

// 4! by an inner loop, added three times by an outer one.
TEST(Loop, Nests) {
  auto inner = std::make_shared<Graph>();
  const NodeId p = inner->add_input({"p", InputKind::data, DType::i64, Shape{}}).value();
  const NodeId k = inner->add_input({"k", InputKind::data, DType::i64, Shape{}}).value();
  const NodeId one = inner->add(Iota{Shape{}, 1, DType::i64}, {}).value();
  inner->add_output("p", inner->add(Mul{}, std::vector{p, k}).value()).value();
  inner->add_output("k", inner->add(Add{}, std::vector{k, one}).value()).value();

  auto outer = std::make_shared<Graph>();
  const NodeId total = outer->add_input({"total", InputKind::data, DType::i64, Shape{}}).value();
  const NodeId start = outer->add(Iota{Shape{}, 1, DType::i64}, {}).value();
  const Body body = outer->adopt(inner);
  const NodeId product = outer->add(Loop{4, 2, 0, 0, body}, std::vector{start, start}).value();
  outer->add_output("total", outer->add(Add{}, std::vector{total, product}).value()).value();

  Graph graph;
  const NodeId zero = graph.add(Iota{Shape{}, 0, DType::i64}, {}).value();
  graph.add_output("y", graph.add(Loop{3, 1, 0, 0, graph.adopt(outer)}, std::vector{zero}).value()).value();
  expect_round_trip(graph, hlir_ops());
  EXPECT_TRUE(same(interpret(graph, {}, {}).value()[0], ints(DType::i64, {}, {72})));
}

TEST(Loop, AnErrorInTheBodyIsTheLoopsError) {
  auto body = std::make_shared<Graph>();
  const NodeId c = body->add_input({"c", InputKind::data, DType::i32, Shape{}}).value();
  const NodeId d = body->add_input({"d", InputKind::data, DType::i32, Shape{}}).value();
  body->add_output("c", body->add(hlir::Div{}, std::vector{c, d}).value()).value();
  Graph graph;
  const NodeId x = graph.add_input({"x", InputKind::data, DType::i32, Shape{}}).value();
  const NodeId y = graph.add_input({"y", InputKind::data, DType::i32, Shape{2}}).value();
  graph.add_output("y", graph.add(Loop{2, 1, 1, 0, graph.adopt(body)}, std::vector{x, y}).value()).value();
  const HostTensor one = ints(DType::i32, {}, {1});
  const HostTensor divisors = row(DType::i32, {1, 0});
  const std::vector<const HostTensor*> inputs{&one, &divisors};
  EXPECT_EQ(interpret(graph, inputs, {}).diag().str(), "[Div] integer division by zero: 1 by 0 in i32");
}

}  // namespace
}  // namespace lumen::testing
