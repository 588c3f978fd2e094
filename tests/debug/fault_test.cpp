// Seeded faults: each question of `lumen debug` names the one that belongs to it.
#include <gtest/gtest.h>

#include "lumen/debug/checks.h"
#include "lumen/debug/facts.h"
#include "lumen/debug/lowering.h"
#include "lumen/debug/rule_questions.h"
#include "tests/debug/rig.h"

namespace lumen::debug {
namespace {

constexpr std::string_view kSumOfProducts =
    R"((rewrite (SumReduce (Mul ?a ?b) :axis ?i) (Contract ?a ?b :left ?v :right ?v :reduced 1)
         :when ((= ?v (axis_last (type_of ?a) ?i))) :ruleset exact :name "sum-of-products"))";

std::vector<Finding> findings(Inspection& inspection, std::string_view what) {
  return check(inspection, lower(inspection), what).value();
}

TEST(Fault, a_rule_that_is_not_among_the_files_is_named) {
  InspectionOptions options;
  options.saturate.rules = rules_without(kSumOfProducts);
  const auto inspection = inspect_case("matmul", options);
  const NodeId sum = only(*inspection, "SumReduce");
  const Coverage coverage = inspect_op(*inspection, lower(*inspection).value(), "SumReduce:contract").value();
  EXPECT_EQ(coverage.covered(), 0u);
  const std::vector<AbsentRule> absent = absent_rules(*inspection).value();
  ASSERT_FALSE(absent.empty());
  EXPECT_EQ(absent[0].name, "sum-of-products");
  EXPECT_EQ(absent[0].vars, std::vector{sum});
}

TEST(Fault, a_rule_that_is_switched_off_is_named) {
  InspectionOptions options;
  options.saturate.without = {"sum-of-products"};
  const auto inspection = inspect_case("matmul", options);
  const Coverage coverage = inspect_op(*inspection, lower(*inspection).value(), "SumReduce:contract").value();
  ASSERT_EQ(coverage.uses.size(), 1u);
  EXPECT_FALSE(coverage.uses[0].covered);
  ASSERT_FALSE(coverage.uses[0].hints.empty());
  EXPECT_EQ(coverage.uses[0].hints[0], "rule sum-of-products would fire here, but is switched off");
  const WhyNotRule why = why_not(*inspection, "sum-of-products", only(*inspection, "SumReduce")).value();
  EXPECT_TRUE(why.fires);
  EXPECT_TRUE(why.is_off);
}

TEST(Fault, nothing_is_absent_with_all_rules) {
  const auto inspection = inspect_case("matmul");
  EXPECT_TRUE(absent_rules(*inspection).value().empty());
  EXPECT_EQ(inspect_op(*inspection, lower(*inspection).value(), "SumReduce:contract").value().covered(), 1u);
}

TEST(Fault, a_fact_that_is_withheld_is_named) {
  InspectionOptions options;
  options.saturate.without = {"type of Tanh"};
  const auto inspection = inspect_case("gelu", options);
  const std::string tanh = inspection->var(only(*inspection, "Tanh"));
  const std::vector<Finding> found = findings(*inspection, "dtype");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].var, tanh);
  EXPECT_NE(found[0].message.find("\"type of Tanh\" fires here, but is switched off"), std::string::npos);
  // From the output, the chain leads there.
  const FactTrace trace = trace_fact(*inspection, "dtype", inspection->find_var("y").value()).value();
  EXPECT_FALSE(trace.found);
  EXPECT_EQ(trace.steps.back().of, tanh);
  EXPECT_FALSE(trace.steps.back().cause.empty());
  EXPECT_EQ(*first_without_fact(*inspection, "type_of", "").value(), only(*inspection, "Tanh"));
  EXPECT_EQ(*first_without_fact(*inspection, "type_of", "Add").value(),
            inspection->graph()[inspection->find_var("y").value()].operands[1]);
}

TEST(Fault, all_facts_of_a_name_can_be_withheld) {
  InspectionOptions options;
  options.saturate.without_facts = {"type_of"};
  const auto inspection = inspect_case("mul", options);
  const std::vector<Finding> found = findings(*inspection, "shape");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].var, "%0");
  EXPECT_NE(found[0].message.find("\"type of Input\""), std::string::npos);
}

TEST(Fault, a_kind_of_kernel_that_does_not_exist_is_named) {
  InspectionOptions options;
  options.without_kernels = {"scan"};
  const auto inspection = inspect_case("cumsum", options);
  const std::vector<Finding> found = findings(*inspection, "missing-kernel");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].var, inspection->var(only(*inspection, "Scan")));
  EXPECT_NE(found[0].message.find("kernels of the kind scan are left out"), std::string::npos);
  EXPECT_TRUE(findings(*inspect_case("cumsum"), "missing-kernel").empty());
}

TEST(Fault, a_loop_has_no_kernel) {
  const auto inspection = inspect_text(R"(lumen 1
%x = Input() :name "x" :shape [3,4]
%c = Input() :name "c" :shape [4]
%l = Loop(%c, %x) :trip 3 :carried 1 :scanned 1 :result 0 :body {
%c = Input() :name "c" :shape [4]
%x = Input() :name "x" :shape [4]
%s = Add(%c, %x)
output "c" = %s
}
output "y" = %l
)");
  const std::vector<Finding> found = findings(*inspection, "all");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].check, "missing-kernel");
  EXPECT_NE(found[0].message.find("Loop"), std::string::npos);
}

TEST(Fault, a_rule_that_equates_other_shapes_is_named) {
  InspectionOptions options;
  options.saturate.rules = rules_with(R"((rewrite (Exp2 (SumReduce ?x :axis ?i)) ?x :ruleset exact :name "nonsense"))");
  const auto inspection = inspect_text(R"(lumen 1
%x = Input() :name "x" :shape [3,4]
%s = SumReduce(%x) :axis 1
%y = Exp2(%s)
output "y" = %y
)",
                                       options);
  const std::vector<Finding> found = findings(*inspection, "shape");
  ASSERT_FALSE(found.empty());
  EXPECT_EQ(found[0].check, "shape");
  EXPECT_TRUE(findings(*inspection, "dtype").empty());
  EXPECT_FALSE(why(*inspection, "nonsense", inspection->find_var("y").value()).value().steps.empty());
}

TEST(Fault, a_rule_that_makes_another_dtype_is_named) {
  InspectionOptions options;
  options.saturate.rules = rules_with(R"((rewrite (Exp2 ?x) (LessThan ?x ?x) :ruleset exact :name "nonsense"))");
  const auto inspection = inspect_text(R"(lumen 1
%x = Input() :name "x" :shape [3]
%y = Exp2(%x)
output "y" = %y
)",
                                       options);
  const std::vector<Finding> found = findings(*inspection, "dtype");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].var, "%1");
  EXPECT_EQ(
      found[0].message,
      "the rule nonsense made a term that is no tensor: [LessThan] is of type bool[3] among terms of type f32[3]");
}

}  // namespace
}  // namespace lumen::debug
