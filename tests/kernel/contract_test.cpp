#include "lumen/kernel/contract.h"

#include <gtest/gtest.h>

#include "lumen/backend/reference/interpreter.h"
#include "tests/support/graphs/values.h"
#include "tests/support/round_trip.h"

namespace lumen {
namespace {

using llir::Contract;
using testing::refusal;

Expr at(int k, Expr extent) { return Expr::index(k, extent); }

// c[m,n] = sum over k of a[m,k] * b[n,k], for a [2,3] and b [4,3].
Contract product() {
  const Shape domain{2, 4, 3};
  return {View(domain, at(0, 2) * 3 + at(2, 3)), View(domain, at(1, 4) * 3 + at(2, 3)), 1};
}

TEST(Contract, refuses_what_does_not_fit) {
  const TensorType a{f32, {2, 3}}, b{f32, {4, 3}};
  EXPECT_EQ(refusal(product(), {a, {f16, {4, 3}}}), "[Contract] operands of f32[2,3] and f16[4,3]");
  EXPECT_EQ(refusal(product(), {{bool_, {2, 3}}, {bool_, {4, 3}}}).substr(0, 10), "[Contract]");
  Contract op = product();
  op.right = View(Shape{2, 4}, at(1, 4));
  EXPECT_EQ(refusal(op, {a, b}), "[Contract] views over different domains, [2,4,3] and [2,4]");
  op = product();
  op.reduced = 4;
  EXPECT_EQ(refusal(op, {a, b}), "[Contract] 4 of the dims of [2,4,3] cannot be summed over");
  EXPECT_NE(refusal(product(), {a, {f32, {3, 3}}}).find("[View]"), std::string::npos);
}

TEST(Contract, has_a_type) {
  const TensorType a{f32, {2, 3}}, b{f32, {4, 3}};
  EXPECT_EQ(refusal(product(), {a, b}), "no error: f32[2,4]");
  Contract op = product();
  op.reduced = 0;
  EXPECT_EQ(refusal(op, {a, b}), "no error: f32[2,4,3]");
  op.reduced = 3;
  EXPECT_EQ(refusal(op, {a, b}), "no error: f32[]");
}

TEST(Contract, expands_to_its_meaning) {
  Graph graph;
  const Tensor a = graph.input("a", {2, 3});
  const Tensor b = graph.input("b", {4, 3});
  const NodeId operands[] = {a.id, b.id};
  const NodeId c = graph.add(product(), operands).value();
  graph.add_output("c", c).value();
  expect_round_trip(graph, llir_ops());
  EXPECT_FALSE(verify(graph, hlir_stage()).ok());
  EXPECT_TRUE(verify(graph, llir_stage()).ok());

  const std::shared_ptr<Graph> expanded = expand(graph);
  EXPECT_TRUE(verify(*expanded, hlir_stage()).ok());
  const HostTensor x = testing::floats(f32, {2, 3}, {1, 2, 3, 4, 5, 6});
  const HostTensor y = testing::floats(f32, {4, 3}, {1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 1, 1});
  const HostTensor* const inputs[] = {&x, &y};
  const HostTensor wanted = testing::floats(f32, {2, 4}, {1, 2, 3, 6, 4, 5, 6, 15});
  EXPECT_TRUE(testing::same(interpret(*expanded, inputs, {}).value()[0], wanted));
}

}  // namespace
}  // namespace lumen
