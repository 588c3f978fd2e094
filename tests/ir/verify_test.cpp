#include "lumen/ir/verify.h"

#include <gtest/gtest.h>

#include "tests/ir/sample_ops.h"
#include "tests/support/round_trip.h"

namespace lumen {
namespace {

using sample::emit;

std::string verdict(const Graph& graph, const Stage& stage) {
  const auto verified = verify(graph, stage);
  return verified.ok() ? "fine" : verified.diag().str();
}
std::string verdict(const Graph& graph) {
  const OpTable table = sample::ops();
  return verdict(graph, Stage{"all", table.ops()});
}

TEST(verify, refuses_ops_of_another_stage) {
  Graph g;
  const Tensor x = g.input("x", {2});
  const Tensor sum = emit(g, sample::Add{}, {x, x});
  emit(g, sample::Fields{}, {sum}).output("y");
  expect_round_trip(g, sample::ops());
  const OpDef* few[] = {&op_def<Input>(), &op_def<sample::Add>()};
  const OpDef* fewer[] = {&op_def<Input>()};
  EXPECT_EQ(verdict(g, Stage{"hlir", fewer}), "[Add] is not an op of stage hlir (node %1)");
  EXPECT_EQ(verdict(g, Stage{"hlir", few, false}), "[Fields] is not an op of stage hlir (node %2)");
  EXPECT_EQ(verdict(g, Stage{"hlir", few, true}), "fine");
}

TEST(verify, refuses_ops_of_another_stage_in_a_body) {
  Graph g;
  auto body = std::make_shared<Graph>();
  const Tensor x = body->input("x", {2});
  emit(*body, sample::Add{}, {x, x}).output("y");
  emit(g, sample::Loop{.trip = 1, .body = g.adopt(body)}).output("y");
  expect_round_trip(g, sample::ops());
  const OpDef* few[] = {&op_def<Input>(), &op_def<sample::Loop>()};
  EXPECT_EQ(verdict(g, Stage{"hlir", few}),
            "[Add] is not an op of stage hlir (node %1)\n  note: in the body of node %0");
  EXPECT_EQ(verdict(g), "fine");
}

TEST(verify, unused_nodes_do_not_count) {
  Graph g;
  const Tensor x = g.input("x", {2});
  emit(g, sample::Add{}, {x, x});
  x.output("y");
  const OpDef* few[] = {&op_def<Input>()};
  EXPECT_EQ(verdict(g, Stage{"hlir", few}), "fine");
}

TEST(verify, refuses_views_that_read_outside) {
  Graph g;
  const Expr n = g.dim("n", 1, 8);
  const Tensor x = g.input("x", {5});
  const Tensor y = g.input("y", {n});
  const auto said_with = [&](const Tensor& source, const View& view) {
    auto copy = clone(g);
    const Tensor from{copy.get(), source.id};
    emit(*copy, sample::Look{.view = view}, {from}).output("v");
    expect_round_trip(*copy, sample::ops());
    return verdict(*copy);
  };
  const auto at = [](const Expr& extent) { return Expr::index(0, extent); };
  EXPECT_EQ(said_with(x, View(Shape{6}, at(6))), "[View] {[6] i0} reads outside its source f32[5] (node %2)");
  EXPECT_EQ(said_with(x, View(Shape{3}, at(3) - 1)), "[View] {[3] i0 - 1} reads outside its source f32[5] (node %2)");
  EXPECT_EQ(said_with(y, View(Shape{n}, at(n) + 1)), "[View] {[n] i0 + 1} reads outside its source f32[n] (node %2)");
  EXPECT_EQ(said_with(x, View(Shape{5}, 4 - at(5))), "fine");
  EXPECT_EQ(said_with(x, View(Shape{9}, at(9) - 2, logical_and(ge(at(9), 2), lt(at(9), 7)), Scalar::of(f32, 0))),
            "fine");
  // Whether n is large enough shows at run time.
  EXPECT_EQ(said_with(y, View(Shape{3}, at(3))), "fine");
}

// An op whose inference changes its mind.
bool g_changed = false;
struct Fickle {
  static constexpr std::string_view kName = "Fickle";
  static constexpr std::string_view kDoc = "Changes.";
  static constexpr int kArity = 0;
  static constexpr OpFamily kFamily = OpFamily::custom;
  static constexpr DTypeClasses kOperands = kAnyDType;
  static constexpr auto fields() { return std::tuple{}; }
  static Expected<TensorType> infer(const Fickle&, std::span<const TensorType>) {
    return TensorType{f32, g_changed ? Shape{2} : Shape{1}};
  }
};

TEST(verify, infers_again) {
  Graph g;
  g_changed = false;
  emit(g, Fickle{}).output("y");
  EXPECT_EQ(verdict(g), "fine");
  g_changed = true;
  EXPECT_EQ(verdict(g), "[Fickle] has type f32[1], but inference says f32[2] (node %0)");
}

TEST(dot, shows_nodes_edges_and_outputs) {
  Graph g;
  const Tensor x = g.input("a \"b\"", {2}, f32, InputKind::weight);
  const Tensor s = g.input("s", {2}, f32, InputKind::state);
  emit(g, sample::Add{}, {x, s}).output("s", s);
  EXPECT_EQ(print_dot(g),
            "digraph lumen {\n"
            "  node [shape=box, style=filled, fontname=monospace];\n"
            "  n0 [fillcolor=lightgoldenrod, label=\"Input\\lname: \\\"a \\\\\\\"b\\\\\\\"\\\"\\lkind: weight\\l"
            "dtype: f32\\lshape: [2]\\lf32[2]\\l\"];\n"
            "  n1 [fillcolor=lightpink, label=\"Input\\lname: \\\"s\\\"\\lkind: state\\l"
            "dtype: f32\\lshape: [2]\\lf32[2]\\l\"];\n"
            "  n2 [fillcolor=white, label=\"Add\\lf32[2]\\l\"];\n"
            "  n0 -> n2 [headlabel=\"0\"];\n"
            "  n1 -> n2 [headlabel=\"1\"];\n"
            "  o0 [fillcolor=lightgreen, label=\"output \\\"s\\\"\\l\"];\n"
            "  n2 -> o0;\n"
            "  o0 -> n1 [style=dashed, constraint=false, label=updates];\n"
            "}\n");
}

}  // namespace
}  // namespace lumen
