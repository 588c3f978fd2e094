#include "lumen/search/encode.h"

#include <gtest/gtest.h>

#include "lumen/frontend/build.h"
#include "lumen/frontend/ops.h"
#include "lumen/ir/text.h"
#include "lumen/kernel/contract.h"
#include "lumen/search/rewrite.h"
#include "tests/rules/samples.h"
#include "tests/support/graphs/random_graph.h"

namespace lumen {
namespace {

// An op of a user's own, with a field of every kind that the primitives do not have.
struct Twist {
  double amount = 0.5;
  bool twice = false;
  InputKind kind = InputKind::weight;
  Name name = "n";
  static constexpr std::string_view kName = "Twist";
  static constexpr std::string_view kDoc = "Nothing in particular.";
  static constexpr int kArity = kVariadic;
  static constexpr OpFamily kFamily = OpFamily::custom;
  static constexpr DTypeClasses kOperands = kAnyDType;
  static constexpr auto fields() {
    return std::tuple{Field{"amount", &Twist::amount}, Field{"twice", &Twist::twice}, Field{"kind", &Twist::kind},
                      Field{"name", &Twist::name}};
  }
  static Expected<TensorType> infer(const Twist&, std::span<const TensorType> operands) { return operands[0]; }
};

RuleFile only(std::string text) { return {"test.egg", std::move(text)}; }

SaturateOptions with_rules(std::string text) {
  SaturateOptions options;
  options.rules = {only(std::move(text))};
  return options;
}

std::string through_egraph(const Graph& graph) {
  Saturated saturated = saturate(graph, with_rules("")).value();
  return print(*extract_best(saturated, 1, roofline()).value()[0].graph);
}

TEST(Encode, every_graph_comes_back_as_it_was) {
  for (uint64_t seed = 0; seed < 120; ++seed) {
    const std::shared_ptr<Graph> graph = testing::make_random_graph(seed).graph;
    EXPECT_EQ(through_egraph(*graph), print(*graph)) << "seed " << seed;
  }
}

TEST(Encode, keeps_ops_of_users_with_all_their_fields) {
  Graph graph;
  const Tensor x = graph.input("x", {3}, f32, InputKind::state);
  const Tensor unused = graph.input("unused", {2});
  const Tensor y = emit(Twist{-0.0, true, InputKind::state, "other"}, {x});
  const Tensor z = emit(Twist{0.0, true, InputKind::state, "other"}, {y, x});
  (z + y).output("z", x);
  EXPECT_EQ(unused.rank(), 1);
  EXPECT_EQ(through_egraph(graph), print(graph));
}

TEST(Encode, knows_types_and_constants) {
  Graph graph;
  const Tensor x = graph.input("x", {3});
  ((x + 1) * 2).output("y");
  SaturateOptions options = with_rules("");
  options.rules = built_in_rules();
  std::erase_if(options.rules, [](const RuleFile& file) { return file.name != "facts.egg"; });
  Saturated saturated = saturate(graph, options).value();
  EXPECT_EQ(saturated.encoding().type_of(saturated.roots()[0])->str(), "f32[3]");
  const auto constants = *saturated.program().find_table("constant_of");
  EXPECT_EQ(saturated.egraph().row_count(constants), 4);  // 1 and 2, and both as f32[3]
}

TEST(Encode, a_rule_that_makes_no_tensor_is_named) {
  Graph graph;
  const Tensor x = graph.input("x", {3, 4});
  exp2(x).output("y");
  const auto wrong = saturate(graph, with_rules(R"((rewrite (Exp2 ?x) (SumReduce (Exp2 ?x) :axis 7)
                                                            :ruleset exact :name "off-axis"))"));
  ASSERT_FALSE(wrong.ok());
  EXPECT_EQ(wrong.diag().message,
            "a rule, off-axis, made a term that is no tensor: [SumReduce] axis 7 out of range for f32[3,4]");
}

TEST(Encode, two_types_in_one_class_are_an_error) {
  Graph graph;
  const Tensor x = graph.input("x", {3, 4});
  exp2(x).output("y");
  const auto wrong = saturate(graph, with_rules(R"((rewrite (Exp2 ?x) (SumReduce (Exp2 ?x) :axis 0)
                                                            :ruleset exact :name "shrinks"))"));
  ASSERT_FALSE(wrong.ok());
  EXPECT_EQ(
      wrong.diag().message,
      "a rule, shrinks, made a term that is no tensor: [SumReduce] is of type f32[4] among terms of type f32[3,4]");
}

}  // namespace
}  // namespace lumen
