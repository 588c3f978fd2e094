#include "lumen/ir/graph.h"

#include <gtest/gtest.h>

#include "tests/ir/sample_ops.h"
#include "tests/support/round_trip.h"

namespace lumen {
namespace {

using sample::emit;

std::string message_of(auto&& expected) { return expected.ok() ? "no error" : expected.diag().message; }
std::string thrown_by(auto&& action) {
  try {
    action();
  } catch (const Error& thrown) {
    return thrown.what();
  }
  return "nothing";
}

TEST(graph, refuses_bad_dims) {
  Graph g;
  const std::string form = " is not a letter followed by letters, digits, _ or .";
  EXPECT_EQ(message_of(g.add_dim("", 1, 2)), "dim name \"\"" + form);
  EXPECT_EQ(message_of(g.add_dim("2x", 1, 2)), "dim name \"2x\"" + form);
  EXPECT_EQ(message_of(g.add_dim("a b", 1, 2)), "dim name \"a b\"" + form);
  EXPECT_EQ(message_of(g.add_dim("_a", 1, 2)), "dim name \"_a\"" + form);
  EXPECT_EQ(message_of(g.add_dim("i12", 1, 2)), "dim name `i12` is a word of the text format");
  EXPECT_EQ(message_of(g.add_dim("else", 1, 2)), "dim name `else` is a word of the text format");
  EXPECT_EQ(message_of(g.add_dim("s", 3, 2)), "dim `s` has bounds 3..2; 0 <= lo <= hi is needed");
  EXPECT_EQ(message_of(g.add_dim("s", -1, 2)), "dim `s` has bounds -1..2; 0 <= lo <= hi is needed");
  EXPECT_TRUE(g.add_dim("s", 1, 2).ok());
  EXPECT_EQ(message_of(g.add_dim("s", 1, 3)), "dim `s` has bounds 1..3; it was declared with 1..2");
  EXPECT_TRUE(*g.add_dim("s", 1, 2) == *g.find_dim("s"));
  EXPECT_TRUE(g.add_dim("i", 1, 2).ok());
  EXPECT_EQ(g.dims().size(), 2u);
  EXPECT_EQ(g.dims()[0].dim_name(), "i");
}

TEST(graph, refuses_bad_inputs) {
  Graph g;
  EXPECT_EQ(message_of(g.add_input({.name = ""})), "[Input] the name is empty");
  g.input("x", {2});
  EXPECT_EQ(message_of(g.add_input({.name = "x"})), "[Input] the name \"x\" is taken");
  EXPECT_EQ(message_of(g.add(Input{.name = "x"}, {})), "[Input] the name \"x\" is taken");
  EXPECT_EQ(message_of(g.add_input({.name = "y", .shape = Shape{-1, 2}})), "[Input] a dim of [-1,2] is negative");
  EXPECT_EQ(message_of(g.add_input({.name = "y", .shape = Shape(std::vector<int64_t>(17, 1))})),
            "[Input] rank 17 is above 16");
  EXPECT_EQ(message_of(g.add_input({.name = "y", .shape = Shape{int64_t{1} << 62, 4}})),
            "[Input] the element count of [4611686018427387904,4] does not fit in 64 bits");
  EXPECT_EQ(message_of(g.add_input({.name = "y", .shape = Shape{Expr::dim("seq", 1, 8)}})),
            "[Input] dim `seq` is not declared in this graph");
  g.dim("seq", 1, 4);
  EXPECT_EQ(message_of(g.add_input({.name = "y", .shape = Shape{Expr::dim("seq", 1, 8)}})),
            "[Input] dim `seq` is 1..8 here, but this graph declares 1..4");
  EXPECT_EQ(message_of(g.add_input({.name = "y", .shape = Shape{Expr::index(0, 4)}})),
            "[Input] `i0` has the coordinate i0, but the shape is []");
  EXPECT_EQ(g.inputs().size(), 1u);
  EXPECT_EQ(g.size(), 1u);
}

TEST(graph, refuses_bad_nodes) {
  Graph g;
  const Tensor x = g.input("x", {2, 3});
  const Tensor y = g.input("y", {3, 2});
  EXPECT_EQ(message_of(g.add(sample::Add{}, std::array{x.id})), "[Add] takes 2 operands, got 1");
  EXPECT_EQ(message_of(g.add(sample::SumReduce{}, {})), "[SumReduce] takes 1 operand, got 0");
  EXPECT_EQ(message_of(g.add(sample::Add{}, std::array{x.id, y.id})), "[Add] f32[2,3] and f32[3,2] differ");
  EXPECT_EQ(message_of(g.add(sample::SumReduce{.axis = 2}, std::array{x.id})),
            "[SumReduce] axis 2 out of range for f32[2,3]");
  EXPECT_EQ(message_of(g.add(sample::Iota{.shape = {4}, .value = Expr::index(1, 4)}, {})),
            "[Iota] `i1` has the coordinate i1, but the shape is [4]");
  EXPECT_EQ(message_of(g.add(sample::Iota{.shape = {4}, .value = Expr::index(0, 5) + 1}, {})),
            "[Iota] i0 in `i0 + 1` is below 5, but dim 0 of [4] is 4");
  EXPECT_EQ(message_of(g.add(sample::Look{.view = View(Shape{4}, Expr::index(0, 5))}, std::array{x.id})),
            "[View] i0 in `i0` is below 5, but dim 0 of [4] is 4");
  EXPECT_EQ(message_of(g.add(sample::Iota{.value = Expr::undefined()}, {})),
            "[Iota] an expression is undefined: it divides by 0 or does not fit in 64 bits");
  EXPECT_EQ(message_of(g.add(sample::Loop{}, {})), "[Loop] the body is missing");
  const Body empty = g.adopt(std::make_shared<Graph>());
  EXPECT_EQ(message_of(g.add(sample::Loop{.body = empty}, {})), "[Loop] the body has no output");
  EXPECT_EQ(g.size(), 2u);
}

TEST(graph, refuses_bad_outputs) {
  Graph g;
  const Tensor x = g.input("x", {2});
  const Tensor s = g.input("s", {2}, f32, InputKind::state);
  const Tensor t = g.input("t", {3}, f32, InputKind::state);
  const Tensor sum = emit(g, sample::Add{}, {x, s});
  EXPECT_EQ(message_of(g.add_output("", sum.id)), "[Output] the name is empty");
  EXPECT_EQ(message_of(g.add_output("a", sum.id, x.id)), "[Output] \"a\" updates what is not a state input");
  EXPECT_EQ(message_of(g.add_output("a", sum.id, sum.id)), "[Output] \"a\" updates what is not a state input");
  EXPECT_EQ(message_of(g.add_output("a", sum.id, t.id)),
            "[Output] \"a\" is f32[2], but \"t\", which it updates, is f32[3]");
  sum.output("a", s);
  EXPECT_EQ(message_of(g.add_output("a", sum.id)), "[Output] the name \"a\" is taken");
  EXPECT_EQ(message_of(g.add_output("b", sum.id, s.id)), "[Output] \"a\" and \"b\" both update \"s\"");
  EXPECT_EQ(g.outputs().size(), 1u);
  expect_round_trip(g, sample::ops());
}

TEST(graph, throws_with_the_place_of_the_call) {
  Graph g;
  const auto place = [](int line) { return " (graph_test.cpp:" + std::to_string(line) + ")"; };
  const Tensor x = g.input("x", {2});
  EXPECT_EQ(thrown_by([&] { g.input("x", {2}); }), "[Input] the name \"x\" is taken" + place(__LINE__));
  EXPECT_EQ(thrown_by([&] { g.dim("if", 1, 2); }), "dim name `if` is a word of the text format" + place(__LINE__));
  x.output("y");
  EXPECT_EQ(thrown_by([&] { x.output("y"); }), "[Output] the name \"y\" is taken" + place(__LINE__));
  EXPECT_EQ(thrown_by([&] { x.dim(1); }), "[dim] axis 1 out of range for f32[2]" + place(__LINE__));
  EXPECT_EQ(thrown_by([&] { x.dim(-2); }), "[dim] axis -2 out of range for f32[2]" + place(__LINE__));
  EXPECT_TRUE(x.dim(-1) == Expr(2));
}

TEST(graph, merges_equal_nodes) {
  Graph g;
  const Tensor x = g.input("x", {2, 3});
  const Tensor y = g.input("y", {2, 3});
  EXPECT_NE(x.id, y.id);
  EXPECT_EQ(emit(g, sample::Add{}, {x, y}).id, emit(g, sample::Add{}, {x, y}).id);
  EXPECT_NE(emit(g, sample::Add{}, {x, y}).id, emit(g, sample::Add{}, {y, x}).id);
  EXPECT_NE(emit(g, sample::SumReduce{.axis = 0}, {x}).id, emit(g, sample::SumReduce{.axis = 1}, {x}).id);
  const auto nan = Scalar::of(f32, -std::numeric_limits<double>::quiet_NaN());
  EXPECT_EQ(emit(g, sample::Fields{.scalar = nan}).id,
            emit(g, sample::Fields{.scalar = Scalar::of(f32, std::numeric_limits<double>::quiet_NaN())}).id);
  EXPECT_NE(emit(g, sample::Fields{.scalar = Scalar::of(f32, 0.0)}).id,
            emit(g, sample::Fields{.scalar = Scalar::of(f32, -0.0)}).id);
}

TEST(graph, merges_many_nodes) {
  Graph g;
  std::vector<Tensor> made;
  for (int round = 0; round < 2; ++round) {
    for (int64_t k = 0; k < 5000; ++k) {
      const Tensor node = emit(g, sample::Iota{.shape = {10}, .value = Expr::index(0, 10) + k});
      if (round == 0) made.push_back(node);
      ASSERT_EQ(node.id, made[static_cast<size_t>(k)].id);
    }
  }
  EXPECT_EQ(g.size(), 5000u);
}

TEST(graph, order_depends_on_structure_only) {
  const auto build = [](Graph& g, bool swapped) {
    const Tensor x = g.input("x", {2});
    const Tensor y = g.input("y", {2});
    Tensor a, b;
    if (swapped) {
      emit(g, sample::Iota{.shape = {3}, .value = 7});  // never needed
      b = emit(g, sample::Add{}, {y, y});
      a = emit(g, sample::Add{}, {x, x});
    } else {
      a = emit(g, sample::Add{}, {x, x});
      b = emit(g, sample::Add{}, {y, y});
    }
    emit(g, sample::Add{}, {a, b}).output("sum");
    a.output("a");
  };
  Graph g, h;
  build(g, false);
  build(h, true);
  EXPECT_TRUE(g.equals(h));
  EXPECT_EQ(g.hash(), h.hash());
  EXPECT_EQ(print(g), print(h));
  EXPECT_TRUE(g.equals(*clone(h)));
  EXPECT_EQ(h.order().size(), 5u);
  EXPECT_EQ(clone(h)->size(), 5u);
  expect_round_trip(g, sample::ops());
  expect_round_trip(h, sample::ops());
}

TEST(graph, tells_different_graphs_apart) {
  const auto build = [](std::string_view change) {
    auto g = std::make_shared<Graph>();
    g->dim("seq", 1, change == "dim" ? 9 : 8);
    const Tensor x = g->input("x", {2}, change == "dtype" ? f16 : f32);
    const Tensor y = g->input(change == "name" ? "z" : "y", {2}, x.dtype(), InputKind::state);
    const Tensor sum = change == "operands" ? emit(*g, sample::Add{}, {y, x}) : emit(*g, sample::Add{}, {x, y});
    if (change == "alias") {
      sum.output("out");
    } else {
      sum.output("out", y);
    }
    if (change == "output") x.output("more");
    return g;
  };
  for (const char* change : {"dim", "dtype", "name", "operands", "alias", "output"}) {
    EXPECT_FALSE(build("")->equals(*build(change))) << change;
    EXPECT_NE(build("")->hash(), build(change)->hash()) << change;
    EXPECT_NE(print(*build("")), print(*build(change))) << change;
    EXPECT_TRUE(build(change)->equals(*build(change))) << change;
    expect_round_trip(*build(change), sample::ops());
  }
}

std::shared_ptr<Graph> body_adding(int64_t axis) {
  auto body = std::make_shared<Graph>();
  const Tensor x = body->input("x", {2, 2});
  emit(*body, sample::SumReduce{.axis = axis}, {x}).output("y");
  return body;
}

TEST(graph, compares_bodies_by_content) {
  Graph g;
  EXPECT_EQ(g.adopt(body_adding(0)).graph, g.adopt(body_adding(0)).graph);
  EXPECT_NE(g.adopt(body_adding(0)).graph, g.adopt(body_adding(1)).graph);
  const Tensor a = emit(g, sample::Loop{.trip = 3, .body = g.adopt(body_adding(0))});
  // A body that another graph owns is taken over.
  auto other = std::make_shared<Graph>();
  const Body foreign = other->adopt(body_adding(0));
  EXPECT_EQ(emit(g, sample::Loop{.trip = 3, .body = foreign}).id, a.id);
  const Tensor b = emit(g, sample::Loop{.trip = 3, .body = other->adopt(body_adding(1))});
  EXPECT_NE(a.id, b.id);
  a.output("a");
  b.output("b");
  other.reset();
  expect_round_trip(g, sample::ops());
  const auto copy = clone(g);
  EXPECT_TRUE(copy->equals(g));
  EXPECT_GT(g.bytes(), body_adding(0)->bytes());
}

TEST(graph, body_dims_are_those_of_the_graph) {
  auto body = std::make_shared<Graph>();
  body->input("x", {body->dim("seq", 1, 8)}).output("y");
  Graph g;
  EXPECT_EQ(message_of(g.add(sample::Loop{.body = g.adopt(body)}, {})),
            "[Loop] dim `seq` is not declared in this graph");
  g.dim("seq", 1, 8);
  EXPECT_TRUE(g.add(sample::Loop{.body = g.adopt(body)}, {}).ok());
}

TEST(graph, deep_graphs_need_no_deep_stack) {
  Graph g;
  Tensor x = g.input("x", {2});
  for (int k = 0; k < 100000; ++k) x = emit(g, sample::Add{}, {x, x});
  x.output("y");
  EXPECT_EQ(g.order().size(), 100001u);
  const auto read = parse(print(g), sample::ops());
  ASSERT_TRUE(read.ok());
  EXPECT_TRUE((*read)->equals(g));
}

TEST(graph_death, operands_of_another_graph) {
  Graph g;
  EXPECT_DEATH((void)g.add(sample::SumReduce{}, std::array{NodeId{3}}), "an operand of another graph");
  const Tensor x = g.input("x", {2});
  EXPECT_DEATH((void)x.node().as<sample::Add>(), "node is another op");
}

}  // namespace
}  // namespace lumen
