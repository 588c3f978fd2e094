#include "lumen/egraph/lang/program.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace lumen::egraph {

namespace {

struct Ran {
  std::string out;
  std::string error;  // empty: none
};

Ran run(std::string_view text, ProgramOptions options = {}) {
  Ran ran;
  Program program(std::move(options), [&](std::string_view part) { ran.out += part; });
  const Expected<void> result = program.run_text(text, "t.egg");
  if (!result.ok()) ran.error = result.diag().str();
  return ran;
}

constexpr std::string_view kMath = "(datatype M (Num i64) (Add M M)) (rewrite (Add a b) (Add b a))";

std::string with_math(std::string_view text) { return std::string(kMath) + std::string(text); }

}  // namespace

TEST(Program, ExtractAndPrint) {
  const Ran ran =
      run(with_math("(let x (Add (Num 1) (Num 2))) (run 2) (extract x) (extract x 5) (print-size)"
                    "(print-size Num) (print-function Num 1) (extract (+ 1 2))"));
  EXPECT_EQ(ran.error, "");
  EXPECT_EQ(ran.out,
            "(Add (Num 1) (Num 2))\n(\n   (Add (Num 1) (Num 2))\n   (Add (Num 2) (Num 1))\n)\n((Add 2)\n (Num 2))\n2\n"
            "(\n   (Num 1) -> (Num 1)\n)\n3\n");
}

TEST(Program, RelationsAndFunctions) {
  const Ran ran =
      run("(relation edge (i64 i64)) (edge 1 2) (function f (i64) i64 :merge (max old new))"
          "(set (f 1) 3) (set (f 1) 2) (print-function edge 9) (print-function f 9) (extract (f 1))"
          "(extract (edge 1 2)) (check (edge 1 x) (= (f 1) 3)) (fail (check (edge 2 1)))");
  EXPECT_EQ(ran.error, "");
  EXPECT_EQ(ran.out, "(\n   (edge 1 2) -> (edge 1 2)\n)\n(\n   (f 1) -> 3\n)\n3\n(edge 1 2)\n");
}

TEST(Program, PrintFunctionOfGlobalsUnitsAndAsTable) {
  const Ran ran = run(with_math(
      "(let $x (Num 1)) (print-function $x) (function u (i64) Unit :no-merge) (set (u 1) ()) (print-function u)"
      "(relation s (String)) (s \"a,b\") (s \"c\") (print-function s :mode csv) (print-function u :mode csv)"));
  EXPECT_EQ(ran.error, "");
  EXPECT_EQ(ran.out,
            "(\n   ($x) -> (Num 1)\n)\n(\n   (u 1)\n)\n"
            "s,\"\"\"a,b\"\"\",\"(s \"\"a,b\"\")\"\ns,\"\"\"c\"\"\",\"(s \"\"c\"\")\"\nu,1\n");
}

TEST(Program, SchedulersEndWithTheBodyTheyStandIn) {
  const std::string rules = "(relation n (i64)) (n 0) (ruleset r) (rule ((n x) (< x 9)) ((n (+ x 1))) :ruleset r)";
  EXPECT_EQ(run(rules + "(run-schedule (let-scheduler b (back-off)) (repeat 3 (run-with b r))) (print-size n)").out,
            "4\n");
  EXPECT_EQ(run(rules + "(run-schedule (repeat 3 (let-scheduler b (back-off)) (run-with b r))) (print-size n)").out,
            "4\n");
  EXPECT_NE(run(rules + "(run-schedule (seq (let-scheduler b (back-off))) (run-with b r))").error.find("no scheduler"),
            std::string::npos);
  EXPECT_NE(
      run(rules + "(run-schedule (let-scheduler b (back-off)) (let-scheduler b (back-off)))").error.find("already"),
      std::string::npos);
  EXPECT_EQ(run(rules + "(run r 5 :until) (print-size n)").out, "1\n");
}

TEST(Program, AConflictOfMergedEntriesIsAnErrorOfTheUnion) {
  const Ran ran =
      run("(datatype M (A) (B)) (function f (M) i64 :no-merge) (set (f (A)) 1) (set (f (B)) 2)\n"
          "(union (A) (B))\n(print-size f)");
  EXPECT_EQ(ran.error.substr(0, 10), "t.egg:2:1:");
}

TEST(Program, ErrorsHaveAPlaceAndLeaveItUsable) {
  Program program;
  const Expected<void> result = program.run_text("(datatype M (Num i64))\n(check (Num 1))", "t.egg");
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.diag().where.line, 2);
  EXPECT_EQ(result.diag().message, "check failed: (Num 1)");
  EXPECT_TRUE(program.run_text("(Num 1) (check (Num 1))", "t.egg").ok());
}

TEST(Program, FailForgivesWhatHappensAndNotWrongTypes) {
  EXPECT_EQ(run("(fail (check (= 1 2)))(fail (let x (/ 1 0)))(fail (panic \"no\"))(fail (pop))").error, "");
  EXPECT_NE(run("(fail (check (= 1 1)))").error.find("should have failed"), std::string::npos);
  EXPECT_NE(run("(fail (Foo 1))").error.find("unbound function `Foo`"), std::string::npos);
  EXPECT_NE(run("(fail (let x (/ 1 0))) (let x 1)").error.find("already declared"), std::string::npos);
}

TEST(Program, PushAndPop) {
  EXPECT_EQ(run("(push) (datatype M (Num i64)) (let x (Num 1)) (push 2) (Num 2) (pop 3)"
                "(datatype M (Num i64)) (let x (Num 1)) (print-size)")
                .out,
            "((Num 1))\n");
  EXPECT_NE(run("(pop)").error.find("nothing was pushed"), std::string::npos);
}

TEST(Program, Schedules) {
  const std::string_view counter =
      "(relation n (i64)) (n 0) (ruleset up) (rule ((n x) (< x 100)) ((n (+ x 1))) :ruleset up)";
  const auto rows = [&](std::string_view schedule) {
    const Ran ran = run(std::string(counter) + std::string(schedule) + "(print-size n)");
    return ran.error.empty() ? ran.out : ran.error;
  };
  EXPECT_EQ(rows("(run up 3)"), "4\n");
  EXPECT_EQ(rows("(run up 200)"), "101\n");
  EXPECT_EQ(rows("(run up 50 :until (n 7))"), "8\n");
  EXPECT_EQ(rows("(run-schedule (saturate up))"), "101\n");
  EXPECT_EQ(rows("(run-schedule (repeat 2 (seq up up)))"), "5\n");
  EXPECT_EQ(rows("(unstable-combined-ruleset both up) (unstable-combined-ruleset more both up) (run more 2)"), "3\n");
  EXPECT_NE(rows("(run down 1)").find("no ruleset `down`"), std::string::npos);
}

TEST(Program, LimitsStopARunAndAreReported) {
  ProgramOptions options;
  options.run.limits.rows = 50000;
  Program program(options);
  ASSERT_TRUE(program
                  .run_text("(relation n (i64)) (n 1) (rule ((n x)) ((n (* 2 x)) (n (+ 1 (* 2 x)))))"
                            "(run 1000) (check (n 7))",
                            "t.egg")
                  .ok());
  ASSERT_EQ(program.limits_hit().size(), 1u);
  EXPECT_EQ(program.limits_hit()[0].substr(0, 5), "rows:");
}

TEST(Program, SmallIterationsStopAtLimitsToo) {
  const auto hit = [](const Limits& limits) {
    ProgramOptions options;
    options.run.limits = limits;
    Program program(options);
    EXPECT_TRUE(program.run_text("(relation n (i64)) (n 0) (rule ((n x)) ((n (+ x 1)))) (run 100000000)", "t").ok());
    return program.limits_hit().size() == 1 ? program.limits_hit()[0] : "";
  };
  EXPECT_EQ(hit({.rows = 100}).substr(0, 16), "rows: 101 of 100");
  EXPECT_EQ(hit({.seconds = 0.05}).substr(0, 8), "seconds:");
}

TEST(Program, ShuffledRulesGiveTheSame) {
  const std::string text = with_math(
      "(rewrite (Add a (Add b c)) (Add (Add a b) c))"
      "(let x (Add (Num 1) (Add (Num 2) (Num 3)))) (run 5) (print-size)");
  ProgramOptions options;
  const Ran plain = run(text);
  options.shuffle_rules = 7;
  EXPECT_EQ(run(text, options).out, plain.out);
  options.run.seminaive = false;
  EXPECT_EQ(run(text, options).out, plain.out);
}

TEST(Program, HostDeclarationsAreKnownToTexts) {
  Program program;
  EGraph& graph = program.egraph();
  const SortId tensor = graph.add_sort("Tensor");
  TableDecl decl;
  decl.name = "Input";
  decl.params = {kString};
  decl.result = tensor;
  decl.constructor = true;
  graph.add_table(decl);
  Primitive twice;
  twice.name = "twice";
  twice.params = {kI64};
  twice.result = kI64;
  twice.apply = [](PrimitiveContext& context, std::span<const Value> args) -> std::optional<Value> {
    return from_i64(context.sort(kI64), 2 * to_i64(context.sort(kI64), args[0]));
  };
  graph.add_primitive(twice);
  ASSERT_TRUE(program.run_text("(let x (Input \"a\")) (check (= 6 (twice 3)))", "t.egg").ok());
  const Expected<TypedValue> value = program.eval("(Input \"a\")");
  ASSERT_TRUE(value.ok());
  EXPECT_EQ(value->sort, tensor);
  EXPECT_EQ(value->value, program.find_global("x")->value);
  EXPECT_FALSE(program.eval("(Input").ok());
  EXPECT_FALSE(program.eval("1 2").ok());
}

TEST(Program, InputOutputAndInclude) {
  const std::filesystem::path folder = std::filesystem::temp_directory_path() / "lumen_program_test";
  std::filesystem::create_directories(folder);
  std::filesystem::remove(folder / "out.txt");
  std::ofstream(folder / "rows.tsv") << "1\ta b\n\n2\tc\n";
  std::ofstream(folder / "loop.egg") << "(include \"" << (folder / "loop.egg").string() << "\")";
  ProgramOptions options;
  options.fact_directory = folder.string();
  const Ran ran =
      run("(relation r (i64 String)) (input r \"rows.tsv\") (print-function r) (output \"out.txt\" 1 2)"
          "(output \"out.txt\" 3)",
          options);
  EXPECT_EQ(ran.error, "");
  EXPECT_EQ(ran.out, "(\n   (r 1 \"a b\") -> (r 1 \"a b\")\n   (r 2 \"c\") -> (r 2 \"c\")\n)\n");
  std::ifstream written(folder / "out.txt");
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(written), {}), "1\n2\n3\n");
  EXPECT_NE(run("(include \"" + (folder / "loop.egg").string() + "\")").error.find("includes itself"),
            std::string::npos);
  EXPECT_NE(run("(include \"missing.egg\")").error.find("cannot read"), std::string::npos);
  EXPECT_NE(run("(relation r (i64)) (input r \"rows.tsv\")", options).error.find("needs 1 columns"), std::string::npos);
  std::filesystem::remove_all(folder);
}

TEST(Program, ManyGlobalsAndHugeExpressions) {
  std::string text = "(datatype M (Num i64) (Add M M))";
  for (int i = 0; i < 2000; ++i) text += "(let x" + std::to_string(i) + " (Num " + std::to_string(i) + "))";
  std::string row = "(Num 0)";
  for (int i = 0; i < 2000; ++i) row = "(Add (Num " + std::to_string(i) + ") " + row + ")";
  const Ran ran = run(text + "(let big " + row + ") (print-size)");
  EXPECT_EQ(ran.error, "");
  EXPECT_EQ(ran.out, "((Add 2000)\n (Num 2000))\n");
}

}  // namespace lumen::egraph
