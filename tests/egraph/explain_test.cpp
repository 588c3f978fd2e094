#include "lumen/egraph/report/explain.h"

#include <gtest/gtest.h>

#include <array>
#include <random>

#include "lumen/egraph/core/state.h"
#include "lumen/egraph/lang/program.h"
#include "lumen/egraph/report/term_text.h"
#include "lumen/egraph/report/why_not.h"

namespace lumen::egraph {

namespace {

struct NamedRule {
  std::string_view name;
  std::string_view text;
};

constexpr std::string_view kDeclarations = "(datatype M (Num i64) (Var String) (Add M M) (Mul M M) (Neg M) (Pow M M))";
constexpr std::array<NamedRule, 14> kRules = {{
    {"add-comm", "(rewrite (Add a b) (Add b a) :name \"add-comm\")"},
    {"mul-comm", "(rewrite (Mul a b) (Mul b a) :name \"mul-comm\")"},
    {"add-assoc", "(rewrite (Add a (Add b c)) (Add (Add a b) c) :name \"add-assoc\")"},
    {"mul-assoc", "(rewrite (Mul a (Mul b c)) (Mul (Mul a b) c) :name \"mul-assoc\")"},
    {"distribute", "(rewrite (Mul a (Add b c)) (Add (Mul a b) (Mul a c)) :name \"distribute\")"},
    {"factor", "(rewrite (Add (Mul a b) (Mul a c)) (Mul a (Add b c)) :name \"factor\")"},
    {"zero", "(rewrite (Add a (Num 0)) a :name \"zero\")"},
    {"one", "(rewrite (Mul a (Num 1)) a :name \"one\")"},
    {"times-zero", "(rewrite (Mul a (Num 0)) (Num 0) :name \"times-zero\")"},
    {"twice", "(rewrite (Neg (Neg a)) a :name \"twice\")"},
    {"minus", "(rewrite (Add a (Neg a)) (Num 0) :name \"minus\")"},
    {"double", "(rewrite (Add a a) (Mul (Num 2) a) :name \"double\")"},
    {"square", "(rewrite (Mul a a) (Pow a (Num 2)) :name \"square\")"},
    {"neg-add", "(rewrite (Neg (Add a b)) (Add (Neg a) (Neg b)) :name \"neg-add\")"},
}};

class Random {
 public:
  explicit Random(uint32_t seed) : engine_(seed) {}
  size_t below(size_t n) { return std::uniform_int_distribution<size_t>(0, n - 1)(engine_); }

  std::string term(int depth) {
    const size_t kind = depth == 0 ? below(2) : below(6);
    if (kind == 0) return "(Num " + std::to_string(below(3)) + ")";
    if (kind == 1) return "(Var \"" + std::string(1, static_cast<char>('x' + below(3))) + "\")";
    if (kind == 2) return "(Neg " + term(depth - 1) + ")";
    return std::string(kind == 3 ? "(Mul " : "(Add ") + term(depth - 1) + " " + term(depth - 1) + ")";
  }

 private:
  std::mt19937 engine_;
};

// Whether the two terms become equal by the rule alone (and, for "given", by the unions alone).
bool follows(const std::string& before, const ExplainStep& step, const std::string& given) {
  std::string text(kDeclarations);
  for (const NamedRule& rule : kRules) {
    if (rule.name == step.rule) text += rule.text;
  }
  Program program;
  const Expected<void> result = program.run_text(text + before + step.term + (step.rule == "given" ? given : "") +
                                                     "(run 1)(check (= " + before + " " + step.term + "))",
                                                 "step.egg");
  return result.ok();
}

void check_explanation(Program& program, SortId sort, Value a, Value b, const std::string& given) {
  EGraph& graph = program.egraph();
  const Expected<Explanation> found =
      explain(graph, {sort, kNone, {}, a}, {sort, kNone, {}, b}, program.given_unions());
  ASSERT_TRUE(found.ok()) << found.diag().str();
  EXPECT_EQ(found->start, traced_term_text(graph, sort, a));
  std::string before = found->start;
  for (const ExplainStep& step : found->steps) {
    ASSERT_TRUE(follows(before, step, given)) << before << "\nis not\n" << step.term << "\nby " << step.rule;
    before = step.term;
  }
  EXPECT_EQ(before, traced_term_text(graph, sort, b));
}

std::string explained(std::string_view text) {
  std::string out;
  Program program({}, [&](std::string_view part) { out += part; });
  const Expected<void> result = program.run_text(text, "t.egg");
  return result.ok() ? out : result.diag().message;
}

}  // namespace

TEST(Explain, EveryStepFollowsFromItsRule) {
  size_t explained = 0;
  for (uint32_t seed = 0; seed < 60; ++seed) {
    Random random(seed);
    std::string given;
    for (size_t i = random.below(3); i > 0; --i) given += "(union " + random.term(1) + " " + random.term(1) + ")";
    std::string text(kDeclarations);
    for (const NamedRule& rule : kRules) {
      if (random.below(2) == 0) text += rule.text;
    }
    if (random.below(2) == 0) text += given;
    text += random.term(4) + random.term(3) + "(run 2)" + given + random.term(3) + "(run 2)";
    ProgramOptions options;
    options.trace = true;
    options.run.limits.rows = 3000;
    Program program(options);
    ASSERT_TRUE(program.run_text(text, "t.egg").ok());
    EGraph& graph = program.egraph();
    const SortId sort = *program.find_sort("M");
    const size_t ids = graph.state().ids[sort].size();
    for (int i = 0; i < 200; ++i) {
      const Value a = static_cast<Value>(random.below(ids));
      const Value b = static_cast<Value>(random.below(std::min<size_t>(ids, 40)));
      if (a == b || graph.find(sort, a) != graph.find(sort, b)) continue;
      SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + text);
      check_explanation(program, sort, a, b, given);
      if (HasFailure()) return;
      ++explained;
    }
  }
  EXPECT_GT(explained, 300u);
}

TEST(Explain, TermsAsTheyAreWritten) {
  EXPECT_EQ(explained(std::string(kDeclarations) + "(rewrite (Add (Num a) (Num b)) (Num (+ a b)) :name \"fold\")"
                                                   "(rewrite (Mul a (Num 1)) a :name \"one\")"
                                                   "(union (Var \"y\") (Num 1))"
                                                   "(let e (Mul (Var \"x\") (Add (Num 0) (Var \"y\")))) (run 3)"
                                                   "(explain (Mul (Var \"x\") (Add (Num 0) (Var \"y\"))) (Var \"x\"))"),
            "(Mul (Var \"x\") (Add (Num 0) (Var \"y\")))\n"
            "= (Mul (Var \"x\") (Add (Num 0) (Num 1)))   by given\n"
            "= (Mul (Var \"x\") (Num 1))   by fold\n"
            "= (Var \"x\")   by one\n");
}

TEST(Explain, CongruenceAndUnionsTheOtherWayRound) {
  EXPECT_EQ(explained("(datatype M (A) (B) (C) (F M M)) (union (A) (B)) (union (C) (B)) (F (A) (C))"
                      "(explain (F (A) (C)) (F (C) (B)))"),
            "(F (A) (C))\n= (F (B) (C))   by given\n= (F (C) (C))   by given, from right to left\n"
            "= (F (C) (B))   by given\n");
}

TEST(Explain, WhatCannotBeExplained) {
  EXPECT_EQ(explained("(datatype M (A) (B)) (explain (A) (B))"), "(A) and (B) are not equal");
  EXPECT_EQ(explained("(explain 1 1)"), "explain needs two terms of one declared sort");
  EGraph graph;
  EXPECT_FALSE(explain(graph, graph.add_sort("S"), 0, 0).ok());
}

TEST(WhyNot, TheDeepestPoint) {
  const std::string rules = std::string(kDeclarations) + "(rewrite (Mul a (Add b (Num 0))) (Mul a b) :name \"r\")";
  EXPECT_EQ(explained(rules + "(why-not \"r\" (Mul (Var \"x\") (Add (Num 1) (Num 2))))"),
            "  holds   (Mul a ?2) = the left side\n"
            "  holds   (Add b ?0) = ?2\n"
            "  fails   (Num 0) = ?0\n"
            "  with    ?0 = (Num 2)\n"
            "  with    b = (Num 1)\n"
            "  with    ?2 = (Add (Num 1) (Num 2))\n"
            "  with    a = (Var \"x\")\n"
            "  with    the left side = (Mul (Var \"x\") (Add (Num 1) (Num 2)))\n");
  EXPECT_EQ(explained(rules + "(why-not \"r\" (Mul (Var \"x\") (Add (Num 1) (Num 0))))"), "the rule matches\n");
  EXPECT_EQ(explained(rules + "(why-not \"s\" (Num 1))"), "no rule is called `s`");
}

TEST(WhyNot, ConditionsAndValues) {
  EXPECT_EQ(
      explained(std::string(kDeclarations) + "(rewrite (Pow a (Num n)) (Mul a a) :when ((< n 3) (!= n 1)) :name \"r\")"
                                             "(why-not \"r\" (Pow (Var \"x\") (Num 7)))"),
      "  holds   (Pow a ?1) = the left side\n"
      "  holds   (Num n) = ?1\n"
      "  fails   (< n 3)\n"
      "  with    n = 7\n"
      "  with    ?1 = (Num 7)\n"
      "  with    a = (Var \"x\")\n"
      "  with    the left side = (Pow (Var \"x\") (Num 7))\n");
}

TEST(WhyNot, OfSeveralPatternsTheOneThatGetsFurthest) {
  const std::string rules = std::string(kDeclarations) +
                            "(rule ((= s (Add a b)) (= p (Mul a (Num 2)))) ((union s p)) :name \"r\")"
                            "(Add (Var \"x\") (Num 1))";
  EXPECT_EQ(explained(rules + "(Mul (Var \"x\") (Num 2)) (why-not \"r\" (Mul (Var \"x\") (Num 2)))"),
            "the rule matches\n");
  EXPECT_EQ(explained(rules + "(why-not \"r\" (Mul (Var \"x\") (Num 3)))"),
            "  holds   (Mul a ?3) = p\n"
            "  fails   (Num 2) = ?3\n"
            "  with    a = (Var \"x\")\n"
            "  with    ?3 = (Num 3)\n"
            "  with    p = (Mul (Var \"x\") (Num 3))\n");
}

TEST(WhyNot, ARuleThatAsksForFactsAlone) {
  const std::string rules = std::string(kDeclarations) +
                            "(relation known (M i64)) (known (Var \"x\") 7)"
                            "(rule ((known e n) (< n 3)) ((union e (Num n))) :name \"r\")";
  EXPECT_EQ(explained(rules + "(why-not \"r\" (Var \"x\"))"),
            "  holds   (known e n)\n"
            "  fails   (< n 3)\n"
            "  with    e = (Var \"x\")\n"
            "  with    n = 7\n");
  EXPECT_EQ(explained(rules + "(why-not \"r\" 7)"), explained(rules + "(why-not \"r\" (Var \"x\"))"));
  EXPECT_EQ(explained(rules + "(why-not \"r\" 7.5)"), "rule r says nothing about values of sort f64");
}

}  // namespace lumen::egraph
