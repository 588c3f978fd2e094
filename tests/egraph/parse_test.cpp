#include "lumen/egraph/lang/parse.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <limits>

namespace lumen::egraph {
namespace {

std::shared_ptr<Source> source_of(std::string text) { return make_source("test.egg", std::move(text)); }

// Keeps the trees alive.
struct ParsedProgram {
  std::shared_ptr<Source> source;
  std::vector<Command> commands;
};

ParsedProgram parse(std::string text) {
  ParsedProgram program{source_of(std::move(text)), {}};
  auto commands = parse_program(program.source);
  EXPECT_TRUE(commands.ok()) << (commands.ok() ? "" : commands.diag().str());
  if (commands.ok()) program.commands = std::move(*commands);
  return program;
}

std::string printed(std::string text) {
  std::string result;
  for (const Command& command : parse(std::move(text)).commands) {
    if (!result.empty()) result += '\n';
    result += print_command(command);
  }
  return result;
}

std::string error_of(std::string text) {
  const auto commands = parse_program(source_of(std::move(text)));
  EXPECT_FALSE(commands.ok());
  return commands.ok() ? "" : commands.diag().str();
}

const Expr& let_value(const ParsedProgram& program) {
  return *std::get<LetAction>(std::get<ActionCommand>(program.commands.at(0).node).action.node).value;
}

Literal literal(const std::string& text) {
  const ParsedProgram program = parse("(let x " + text + ")");
  EXPECT_EQ(let_value(program).kind, Expr::Kind::literal) << text;
  return let_value(program).literal;
}

TEST(EggParse, ErrorsNameThePlaceWhatWasExpectedAndWhatWasGiven) {
  EXPECT_EQ(error_of("(sort S)\n  (check a)"),
            "test.egg:2:10: expected a fact such as (= a b) or (f x), given `a`\n"
            "  note:   (check a)\n"
            "  note:          ^");
  EXPECT_EQ(error_of("(ruleset a b)"),
            "test.egg:1:1: usage: (ruleset <name>), given 2 arguments\n"
            "  note: (ruleset a b)\n"
            "  note: ^~~~~~~~~~~~~");
  EXPECT_EQ(error_of("(rule () () :rulset r)"),
            "test.egg:1:13: `rule` has no option `:rulset`; its options: :ruleset, :name, :naive, :unsafe-seminaive, "
            ":no-decomp, :internal-include-subsumed\n"
            "  note: (rule () () :rulset r)\n"
            "  note:             ^~~~~~~\n"
            "  note: did you mean `:ruleset`?");
}

TEST(EggParse, WhatEgglogRejectsIsRejected) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"foo", "1:1: expected a command"},
      {"1", "1:1: expected a command"},
      {"()", "1:1: expected a command"},
      {"((f))", "1:1: expected a command"},
      {"(let x a", "1:1: this `(` is not closed"},
      {"(f))", "1:4: this `)` closes nothing"},
      {"(let x \"ab", "1:8: this string has no closing"},
      {"(let x \"a\\q\")", "1:10: unknown escape `\\q`"},
      {"(let x ((a)))", "1:9: expected the name of a function, given `(a)`"},
      {"(let x (1 2))", "1:9: expected the name of a function, given `1`"},
      {"(let x @a)", "1:8: the name `@a` is reserved"},
      {"(let @x 1)", "1:6: the name `@x` is reserved"},
      {"(let \"x\" 1)", "1:6: expected the name that is bound"},
      {"(let x)", "usage: (let <name> <expr>), given 1"},
      {"(set f 2)", "1:6: expected a call such as (f x), given `f`"},
      {"(check (= a b c))", "usage: (= <expr> <expr>), given 3"},
      {"(check true)", "1:8: expected a fact"},
      {"(run)", "usage: (run <ruleset>? <iterations> (:until <fact>+)?), given 0"},
      {"(run r)", "1:6: expected the number of iterations"},
      {"(run-schedule (run r :until))", "1:22: `:until` needs at least one fact"},
      {"(run r 5 :until a)", "1:17: expected a fact"},
      {"(run-schedule (run 5))", "1:20: expected the name of a ruleset"},
      {"(run-schedule (walk r))", "1:15: expected a schedule"},
      {"(run-schedule (repeat r))", "1:23: expected the number of times"},
      {"(run-schedule (let-scheduler a (back-off :limit 3)))", "`back-off` has no option `:limit`"},
      {"(push -1)", "1:7: expected the number of times"},
      {"(push 1.0)", "1:7: expected the number of times"},
      {"(sort S (Vec i64) :x)", "usage: (sort <name>"},
      {"(function f (i64) i64)", "the function `f` needs `:merge <expr>` or `:no-merge`"},
      {"(function f (i64) i64 :merge old :no-merge)", "one of `:merge` and `:no-merge` is enough"},
      {"(function f i64 i64 :no-merge)", "1:13: expected the sorts of the arguments in brackets"},
      {"(constructor F (i64) S :cost)", "1:24: `:cost` needs a value"},
      {"(constructor F (i64) S :merge old)", "`constructor` has no option `:merge`"},
      {"(datatype M A)", "1:13: expected a variant"},
      {"(datatype M (A :cost -3))", "1:22: expected the cost"},
      {"(datatype* (sort V))", "usage: (sort <name> (<container> <sort>*)), given 1"},
      {"(rule (f x) ())", "1:8: expected a fact"},
      {"(rule () () :naive :unsafe-seminaive)", "cannot be both"},
      {"(rule () () :name n)", "1:19: expected the name of the rule (a string in quotes)"},
      {"(rule () () r)", "1:13: expected an option"},
      {"(rule () () :ruleset a b)", "1:24: expected one value after `:ruleset`"},
      {"(birewrite a b :subsume)", "`birewrite` has no option `:subsume`; its options: :ruleset, :when, :name"},
      {"(rewrite a b :naive)", "`rewrite` has no option `:naive`"},
      {"(extract e 1 :extractor best)", "expected the extractor `greedy-dag`"},
      {"(print-size f g)", "usage: (print-size <table>?)"},
      {"(print-function f :mode tsv)", "expected the mode `csv` or `default`"},
      {"(fail)", "usage: (fail <command>)"},
      {"(fail (with-ruleset r))", "`fail` takes one command, this stands for 0"},
      {"(prove-exists f)", "prove-exists is not supported"},
      {"(with-ruleset r (sort S))", "1:17: expected a rule, a rewrite or a birewrite"},
      {"(with-ruleset r (rule () () :ruleset q))", "has no `:ruleset` of its own, this one `q`"},
      {"(for ((f x)) (union a b))", "1:15: expected an action"},
  };
  for (const auto& [text, message] : cases)
    EXPECT_NE(error_of(text).find(message), std::string::npos) << error_of(text);
}

TEST(EggParse, OurSyntaxHasItsErrors) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"(f :axis)", "1:4: the field `:axis` needs a value"},
      {"(f :axis :keep 1)", "1:4: the field `:axis` needs a value"},
      {"(f :axis 1 2)", "1:12: expected a field"},
      {"(f ..3)", "`..` needs the name of a variable, given `3`"},
      {"(f .._)", "`..` needs the name of a variable"},
      {"(union a ..m)", "1:10: `..m` stands only after the arguments of a call"},
      {"(union a :m)", "1:10: expected an expression, given `:m`"},
      {"(check _:(f x))", "the label `_` is not the name of a variable"},
      {"(check 3:(f x))", "the label `3` is not the name of a variable"},
      {"(check m:())", "a label stands before a call"},
      {"(relation f (:a))", "1:14: the field `a` needs a sort"},
      {"(relation f (:a i64 i64))", "1:21: expected the name of a field"},
      {"(relation f (:a i64 :a i64))", "1:21: the field `a` is declared twice"},
      {"(for R in (A) (sort R))", "1:6: expected a parameter such as ?R, given `R`"},
      {"(for ?R of (A))", "1:9: expected `in`"},
      {"(for ?R in A)", "1:12: expected the values in brackets"},
      {"(for ?R in (\"A\"))", "1:13: expected a name or a number"},
      {"(why-not r e)", "1:10: expected the name of a rule (a string in quotes)"},
  };
  for (const auto& [text, message] : cases)
    EXPECT_NE(error_of(text).find(message), std::string::npos) << error_of(text);
}

TEST(EggParse, TheMarkStandsUnderItsPlace) {
  EXPECT_EQ(error_of("\t(let \xC3\xA4 @)"),
            "test.egg:1:9: the name `@` is reserved, as all that start with `@`\n"
            "  note: \t(let \xC3\xA4 @)\n"
            "  note: \t       ^");
  const Diag diag = parse_program(source_of(std::string(1000, ' ') + "x" + std::string(1000, ' '))).diag();
  EXPECT_EQ(diag.where.column, 1001);
  EXPECT_LE(diag.notes[0].size(), 130u);
  EXPECT_EQ(diag.notes[0].find('x'), diag.notes[1].find('^'));
}

TEST(EggParse, Literals) {
  EXPECT_EQ(literal("-9223372036854775808").integer, std::numeric_limits<int64_t>::min());
  EXPECT_EQ(literal("+5").integer, 5);
  EXPECT_EQ(literal(".5").real, 0.5);
  EXPECT_EQ(literal("5.").real, 5.0);
  EXPECT_EQ(literal("-1E3").real, -1000.0);
  EXPECT_EQ(literal("99999999999999999999").real, 1e20);
  EXPECT_EQ(literal("1e-400").real, 0.0);
  EXPECT_TRUE(std::isnan(literal("NaN").real));
  EXPECT_EQ(literal("inf").real, std::numeric_limits<double>::infinity());
  EXPECT_EQ(literal("-inf").real, -std::numeric_limits<double>::infinity());
  EXPECT_TRUE(literal("true").boolean);
  EXPECT_EQ(literal("()").kind, Literal::Kind::unit);
  const ParsedProgram program = parse(R"((let x "a\n\t\"\\;b"))");
  EXPECT_EQ(let_value(program).literal.string, "a\n\t\"\\;b");
  for (const char* name :
       {"nan", "infinity", "+inf", "1e400", "-", "+", ".", "1_0", "0x1", "1e", "--1", "a\"b\"", "[]"}) {
    const ParsedProgram named = parse(std::string("(let x ") + name + ")");
    EXPECT_EQ(let_value(named).kind, Expr::Kind::variable);
    EXPECT_EQ(let_value(named).name, name);
  }
}

TEST(EggParse, CommentsAndBlanks) {
  EXPECT_EQ(printed("; (sort A)\n(sort;x)\nB); y\r\n\v\f(sort\tC)\n;"), "(sort B)\n(sort C)");
  EXPECT_EQ(printed(""), "");
}

TEST(EggParse, EachWildcardHasItsOwnName) {
  const ParsedProgram program = parse("(let x (f _ _ a))");
  const Expr& call = let_value(program);
  EXPECT_NE(call.args[0]->name, call.args[1]->name);
  EXPECT_TRUE(call.args[0]->name.starts_with("@_"));
  EXPECT_EQ(print_expr(call), "(f _ _ a)");
}

TEST(EggParse, SpansCoverTheTree) {
  const std::string text = "(let x (f  a\n (g 1)))";
  const ParsedProgram program = parse(text);
  const auto shown = [&](const Span& span) { return text.substr(span.begin, span.end - span.begin); };
  EXPECT_EQ(shown(program.commands[0].span), text);
  EXPECT_EQ(shown(let_value(program).span), "(f  a\n (g 1))");
  EXPECT_EQ(shown(let_value(program).args[1]->span), "(g 1)");
}

TEST(EggParse, OtherSpellings) {
  EXPECT_EQ(printed("(run-schedule r (repeat 2 (run)))"), "(run-schedule (run r) (repeat 2 (run)))");
  EXPECT_EQ(printed("(run-schedule (repeat 5 (run r :until (f x) (g))))"), "(run r 5 :until (f x) (g))");
  EXPECT_EQ(printed("(prove (f a))"), "(check (f a))");
  EXPECT_EQ(printed("(push)"), "(push 1)");
  EXPECT_EQ(printed("(query-extract :variants 5 e)"), "(extract e 5)");
  EXPECT_EQ(printed("(simplify (run 5) e)"), "(simplify (repeat 5 (run)) e)");
  EXPECT_EQ(printed("(foo 1)"), "(foo 1)");
  EXPECT_EQ(printed("(= a b)"), "(= a b)");
}

TEST(EggParse, ATableOfTheProgramWinsOverACommandOfOurs) {
  EXPECT_EQ(printed("(relation explain (S)) (explain a)"), "(relation explain (S))\n(explain a)");
  EXPECT_EQ(printed("(datatype S (simplify S S)) (simplify a b)"), "(datatype S (simplify S S))\n(simplify a b)");
}

TEST(EggParse, ForReplacesItsParameter) {
  EXPECT_EQ(printed(R"((for ?R in (A B) (rewrite (?R ?Rx ?R:(G)) (?R2 x?R) :name "?R-c ?Rc")))"),
            "(rewrite (A ?Rx A:(G)) (?R2 xA) :name \"A-c ?Rc\")\n"
            "(rewrite (B ?Rx B:(G)) (?R2 xB) :name \"B-c ?Rc\")");
  EXPECT_EQ(printed("(for ?A in (1 2) (for ?B in (?A c) (f ?A ?B)))"), "(f 1 1)\n(f 1 c)\n(f 2 2)\n(f 2 c)");
  EXPECT_EQ(printed("(with-ruleset r (for ?F in (A B) (rewrite (?F x) x)))"),
            "(rewrite (A x) x :ruleset r)\n(rewrite (B x) x :ruleset r)");
}

TEST(EggParse, ForCannotGrowWithoutEnd) {
  std::string commands = "(f)";
  std::string names = "(f ?30)";
  for (int k = 30; k > 0; --k) {
    const std::string parameter = "?" + std::to_string(k);
    const std::string outer = "?" + std::to_string(k - 1);
    commands = "(for " + parameter + " in (1 2 3 4 5 6 7 8 9) " + commands + ")";
    names = "(for " + parameter + " in (" + outer + "-" + outer + ") " + names + ")";
  }
  EXPECT_NE(error_of(commands).find("expands to more than"), std::string::npos);
  EXPECT_NE(error_of(names).find("too long"), std::string::npos);
}

TEST(EggParse, ExperimentalForRunsARuleOnce) {
  const ParsedProgram program = parse("(for ((f x)) ((g x))) (for ((f x)) ((h x)))");
  ASSERT_EQ(program.commands.size(), 6u);
  const auto& ruleset = std::get<RulesetCommand>(program.commands[0].node);
  EXPECT_EQ(std::get<RuleCommand>(program.commands[1].node).ruleset, ruleset.name);
  EXPECT_NE(std::get<RulesetCommand>(program.commands[3].node).name, ruleset.name);
}

TEST(EggParse, CostsThatRulesSet) {
  EXPECT_EQ(printed("(with-dynamic-cost (datatype E (X i64) (Y))) (rule ((= e (X n))) ((set-cost (X n) (+ n 1))))"),
            "(datatype E (X i64) (Y))\n"
            "(function cost_table_X (i64) i64 :no-merge)\n"
            "(function cost_table_Y () i64 :no-merge)\n"
            "(rule ((= e (X n))) ((X n) (set (cost_table_X n) (+ n 1))))");
}

TEST(EggParse, NestingEndsAtItsLimit) {
  const auto nested = [](size_t depth) {
    std::string text = "(let a ";
    for (size_t k = 1; k < depth; ++k) text += "(N ";
    return text + "1" + std::string(depth, ')');
  };
  EXPECT_EQ(parse(nested(4000)).commands.size(), 1u);
  EXPECT_NE(error_of(nested(4001)).find("nest deeper than 4000"), std::string::npos);
  EXPECT_NE(error_of(std::string(100'000, '(')).find("nest deeper than 4000"), std::string::npos);
  std::string fails = "(check)";
  std::string schedule = "r";
  for (int k = 0; k < 201; ++k) {
    fails = "(fail " + fails + ")";
    schedule = "(seq " + schedule + ")";
  }
  EXPECT_NE(error_of(fails).find("nest deeper than 200"), std::string::npos);
  EXPECT_NE(error_of("(run-schedule " + schedule + ")").find("nest deeper than 200"), std::string::npos);
}

TEST(EggParse, LargeTextsTakeLittleTime) {
  std::string text;
  for (int k = 0; k < 10'000; ++k) text += "(let x" + std::to_string(k) + " (Add (Num " + std::to_string(k) + ") y))\n";
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(parse(std::move(text)).commands.size(), 10'000u);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(3));  // 10 ms; sanitisers are slower
}

}  // namespace
}  // namespace lumen::egraph
