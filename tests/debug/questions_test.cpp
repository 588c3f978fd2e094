#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "lumen/debug/checks.h"
#include "lumen/debug/class_view.h"
#include "lumen/debug/facts.h"
#include "lumen/debug/report.h"
#include "lumen/debug/rule_questions.h"
#include "tests/debug/rig.h"

namespace lumen::debug {
namespace {

TEST(Questions, names_that_do_not_exist_are_errors) {
  EXPECT_EQ(error_of(make_case("sofmax", 8)), "no case is called sofmax; did you mean softmax?");
  const auto graph = make_case("mul", 8).value();
  InspectionOptions options;
  options.saturate.without = {"sum-of-product"};
  EXPECT_EQ(error_of(Inspection::make(graph, options)),
            "no rule is called sum-of-product; did you mean sum-of-products?");
  options = {};
  options.saturate.without_facts = {"typeof"};
  EXPECT_EQ(error_of(Inspection::make(graph, options)), "no fact is called typeof; did you mean type_of?");
  options = {};
  options.without_kernels = {"folds"};
  EXPECT_EQ(error_of(Inspection::make(graph, options)), "no kind of kernel is called folds; did you mean fold?");
  const auto inspection = inspect_case("mul");
  EXPECT_EQ(error_of(inspection->find_var("%3")),
            "the graph has no value %3: it has %0 to %2, as `lumen ir fmt` prints them, and its inputs and outputs by "
            "name");
  EXPECT_EQ(error_of(inspection->find_class("#99")), "the e-graph has no class #99");
  EXPECT_EQ(error_of(check(*inspection, lower(*inspection), "dtypes")),
            "no check is called dtypes; there are missing-kernel, dtype, shape, facts, all");
  EXPECT_EQ(error_of(trace_fact(*inspection, "size", NodeId{0})),
            "no fact is called size; there are type_of, constant_of, factors, addends");
  const Lowering lowering = lower(*inspection).value();
  EXPECT_EQ(error_of(inspect_op(*inspection, lowering, "Mul")), "Mul is no OP:KERNEL, such as SumReduce:contract");
  EXPECT_EQ(error_of(inspect_op(*inspection, lowering, "Mull:map")), "no op is called Mull; did you mean Mul?");
  EXPECT_EQ(error_of(inspect_op(*inspection, lowering, "Mul:maps")),
            "no kind of kernel is called maps; there are map, fold, contract, attention, scan, sort, scatter, and "
            "interpreted");
}

TEST(Questions, every_case_is_lowered_to_kernels) {
  for (const DebugCase& each : debug_cases()) {
    const auto inspection = inspect_case(each.name);
    EXPECT_TRUE(check(*inspection, lower(*inspection), "all").value().empty()) << each.name;
  }
}

TEST(Questions, sizes_are_about_the_elements) {
  const auto graph = make_case("layer-norm", 4096).value();
  EXPECT_EQ((*graph)[graph->inputs()[0]].type.str(), "f32[8,512]");
}

TEST(Questions, values_are_known_by_number_and_name) {
  const auto inspection = inspect_case("mul");
  EXPECT_EQ(inspection->find_var("%2").value(), inspection->find_var("y").value());
  EXPECT_EQ(inspection->find_var("2").value(), inspection->find_var("y").value());
  EXPECT_EQ(inspection->find_var("b").value(), inspection->find_var("%1").value());
}

TEST(Questions, what_is_inside_a_contraction_is_in_its_kernel) {
  const auto inspection = inspect_case("matmul");
  const Lowering lowering = lower(*inspection).value();
  const NodeId product = only(*inspection, "Mul");
  EXPECT_FALSE(lowering.is_computed.at(product));
  EXPECT_EQ(lowering.kernels_of.at(product), lowering.kernels_of.at(only(*inspection, "SumReduce")));
  EXPECT_TRUE(lowering.is_computed.at(only(*inspection, "SumReduce")));
}

TEST(Questions, a_class_has_its_terms_with_their_rules) {
  const auto inspection = inspect_case("matmul");
  const ClassView view = view_class(*inspection, inspection->class_of(only(*inspection, "SumReduce")));
  EXPECT_EQ(view.name, inspection->var(only(*inspection, "SumReduce")));
  EXPECT_EQ(view.members.at(0).rule, "");
  EXPECT_TRUE(std::ranges::any_of(view.members, [](const Member& each) { return each.rule == "sum-of-products"; }));
  EXPECT_EQ(view.facts.at(0), "type_of f32[2,64]");
  EXPECT_TRUE(view.users.empty());
}

TEST(Questions, why_shows_what_a_rule_says) {
  const auto inspection = inspect_case("matmul");
  const NodeId sum = only(*inspection, "SumReduce");
  const WhyRule found = why(*inspection, "sum-of-products", sum).value();
  ASSERT_EQ(found.steps.size(), 1u);
  EXPECT_TRUE(found.steps[0].before.starts_with("SumReduce("));
  EXPECT_TRUE(found.steps[0].after.starts_with("Contract("));
  EXPECT_NE(found.proof.find("by sum-of-products"), std::string::npos);
  EXPECT_FALSE(why(*inspection, "max-of-repeated", sum).value().fires);
}

TEST(Questions, why_not_shows_what_fails) {
  const auto inspection = inspect_case("softmax");
  const WhyNotRule found = why_not(*inspection, "sum-of-products", only(*inspection, "SumReduce")).value();
  EXPECT_FALSE(found.fires);
  ASSERT_EQ(found.failed.size(), 1u);
  EXPECT_TRUE(found.failed[0].starts_with("(Mul ")) << found.failed[0];
}

// Most rules begin at a term; some ask for facts alone, and those are about the first value that they name.
TEST(Questions, every_rule_can_be_asked_about) {
  const auto inspection = inspect_case("layer-norm");
  const NodeId y = inspection->find_var("y").value();
  size_t fired = 0;
  for (egraph::RuleId rule = 0; rule < inspection->egraph().rule_count(); ++rule) {
    const std::string name = inspection->egraph().rule(rule).name;
    const Expected<WhyRule> yes = why(*inspection, name, y);
    const Expected<WhyNotRule> no = why_not(*inspection, name, y);
    ASSERT_EQ(error_of(yes) + error_of(no), "") << name;
    EXPECT_EQ(yes->fires, no->fires) << name;
    EXPECT_EQ(no->fires, no->failed.empty()) << name;
    EXPECT_NE(yes->text, "");
    fired += yes->fires ? 1 : 0;
  }
  EXPECT_GT(fired, 0u);
}

TEST(Questions, rules_about_facts_say_what_they_found) {
  const auto inspection = inspect_text(R"(lumen 1
%x = Input() :name "x" :shape [4]
%one = Constant() :value f32(1)
%ones = View(%one) :view {[4] 0}
%two = Constant() :value f32(2)
%twos = View(%two) :view {[4] 0}
%none = Constant() :value f32(-0)
%nones = View(%none) :view {[4] 0}
%a = Mul(%x, %ones)
%b = Add(%a, %nones)
%c = Mul(%b, %twos)
%d = Mul(%c, %twos)
%four = Mul(%twos, %twos)
output "a" = %a
output "b" = %b
output "d" = %d
output "four" = %four
)");
  const auto steps = [&](std::string_view rule, std::string_view var) {
    const WhyRule found = why(*inspection, rule, inspection->find_var(var).value()).value();
    EXPECT_TRUE(found.fires) << found.text;
    return found.steps.size();
  };
  EXPECT_GT(steps("times-one", "a"), 0u);
  EXPECT_GT(steps("plus-nothing", "b"), 0u);
  EXPECT_GT(steps("scale-twice", "d"), 0u);
  EXPECT_GT(steps("constants-fold", "four"), 0u);
  const WhyNotRule not_here = why_not(*inspection, "times-one", inspection->find_var("d").value()).value();
  EXPECT_FALSE(not_here.fires);
  EXPECT_EQ(not_here.failed, std::vector<std::string>{"(neutral_mul ?3)"}) << not_here.text;
}

TEST(Questions, a_fact_is_traced_to_where_it_begins) {
  const auto inspection = inspect_case("mul");
  const FactTrace trace = trace_fact(*inspection, "type_of", inspection->find_var("y").value()).value();
  ASSERT_EQ(trace.steps.size(), 3u);
  EXPECT_TRUE(trace.found);
  EXPECT_EQ(trace.text(),
            "type_of of %2 (Mul f32[1024]) = f32[1024], by \"type of Mul\"\n"
            "  type_of of %0 (Input f32[1024]) = f32[1024], by \"type of Input\"\n"
            "  type_of of %1 (Input f32[1024]) = f32[1024], by \"type of Input\"\n");
  const FactTrace missing = trace_fact(*inspection, "constant_of", inspection->find_var("y").value()).value();
  EXPECT_FALSE(missing.found);
  EXPECT_EQ(missing.cause(), "constant_of of %0 is not known: no rule states constant_of of Input");
}

TEST(Questions, answers_are_json_too) {
  const auto inspection = inspect_case("softmax");
  Questions questions;
  questions.analyze = true;
  questions.inspect_op = "*:fold";
  questions.inspect_var = "y";
  questions.trace_fact = {"type_of", "y"};
  questions.first_missing_fact = "constant_of";
  questions.check = "all";
  questions.why = {"view-compose", "y"};
  questions.why_not = {"sum-of-products", "y"};
  const Answers answers = answer(*inspection, questions, "softmax").value();
  const auto json = nlohmann::json::parse(answers.json);
  EXPECT_EQ(json["graph"], "softmax");
  EXPECT_EQ(json["summary"]["kernels"]["fold"], 1);
  EXPECT_EQ(json["inspect_op"]["covered"], json["inspect_op"]["uses"].size());
  EXPECT_EQ(json["findings"].size(), 0u);
  EXPECT_EQ(json["values"].size(), inspection->graph().order().size());
  EXPECT_FALSE(json["why_not"]["fires"]);
}

TEST(Questions, the_e_graph_is_printed_class_by_class) {
  EXPECT_EQ(print_egraph(*inspect_case("mul")),
            "%0 f32[1024]\n  Input() :name \"a\" :kind data :dtype f32 :shape [1024]\n"
            "%1 f32[1024]\n  Input() :name \"b\" :kind data :dtype f32 :shape [1024]\n"
            "%2 f32[1024]\n  Mul(%0, %1)\n");
}

}  // namespace
}  // namespace lumen::debug
