#include "tests/frontend/rig.h"

namespace lumen {
namespace {

// The message ends with the line of the call; `+ 1` is the line after the one that asks.
std::string at_line(int line) { return " (call_test.cpp:" + std::to_string(line) + ")"; }

TEST(Call, ErrorNamesFunctionShapesAndPlace) {
  Rig rig;
  const Tensor a = rig.graph().input("a", {2, 3});
  const Tensor b = rig.graph().input("b", {4, 5});
  const int line = __LINE__ + 1;
  const std::string text = error_of([&] { matmul(a, b); });
  EXPECT_EQ(text, "[matmul] inner dims 3 and 4 differ: f32[2,3] @ f32[4,5]" + at_line(line));
}

TEST(Call, OutermostFunctionIsNamed) {
  Rig rig;
  const Tensor x = rig.graph().input("x", {2, 3});
  const std::string text = error_of([&] { softmax(x, 2); });
  EXPECT_EQ(text, "[softmax] axis 2 out of range for f32[2,3]" + at_line(__LINE__ - 1));
}

TEST(Call, OperatorsKeepTheUsersPlace) {
  Rig rig;
  Tensor a = rig.graph().input("a", {2, 3});
  const Tensor b = rig.graph().input("b", {4});
  const std::string plus = error_of([&] { a + b; });
  EXPECT_EQ(plus, "[add] shapes [2,3] and [4] do not broadcast" + at_line(__LINE__ - 1));
  const std::string times = error_of([&] { a *= b; });
  EXPECT_EQ(times, "[mul] shapes [2,3] and [4] do not broadcast" + at_line(__LINE__ - 1));
}

TEST(Call, EndsWhenTheFunctionThrows) {
  Rig rig;
  const Tensor x = rig.graph().input("x", {2, 3});
  EXPECT_NE(error_of([&] { layer_norm(x, 7); }), "");
  EXPECT_EQ(error_of([&] { sum(x, {5}); }), "[sum] axis 5 out of range for f32[2,3]" + at_line(__LINE__));
}

TEST(Call, InferenceErrorsLoseTheOpName) {
  Rig rig;
  const Tensor x = rig.graph().input("x", {3}, DType::u8);
  const std::string text = error_of([&] { bitcast(x, DType::f32); });
  EXPECT_EQ(text.find("[bitcast] "), 0u) << text;
  EXPECT_EQ(text.find("[Bitcast]"), std::string::npos) << text;
}

TEST(Call, DifferentGraphs) {
  Rig one;
  Rig two;
  const Tensor a = one.graph().input("a", {2});
  const Tensor b = two.graph().input("b", {2});
  EXPECT_EQ(error_of([&] { add(a, b); }), "[add] operands belong to different graphs" + at_line(__LINE__));
  const std::string text = error_of([&] { gather(a, cast(b, DType::i64)); });
  EXPECT_EQ(text, "[gather] operands belong to different graphs" + at_line(__LINE__ - 1));
}

TEST(Call, NumbersAloneAreNoTensor) {
  EXPECT_EQ(error_of([&] { exp(2.0); }), "[exp] needs a tensor, not a number" + at_line(__LINE__));
  EXPECT_EQ(error_of([&] { add(1, 2); }), "[add] needs a tensor: only numbers were given" + at_line(__LINE__));
  const std::string text = error_of([&] { relu(Tensor{}); });
  EXPECT_EQ(text, "[relu] an operand is an empty Tensor, which belongs to no graph" + at_line(__LINE__ - 1));
}

}  // namespace
}  // namespace lumen
