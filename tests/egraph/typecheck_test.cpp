#include "lumen/egraph/lang/typecheck.h"

#include <gtest/gtest.h>

#include "lumen/egraph/lang/lower.h"
#include "lumen/egraph/lang/parse.h"
#include "lumen/egraph/lang/program.h"

namespace lumen::egraph {

namespace {

constexpr std::string_view kTypedDeclarations =
    "(datatype M (Num i64) (Add M M) (Mul M M))"
    "(relation edge (i64 i64))"
    "(function size (M) i64 :merge (min old new))"
    "(sort Ints (Vec i64)) (sort Reals (Vec f64)) (relation ints (Ints))"
    "(sort Fn (UnstableFn (i64) i64))";

// The rule that a text becomes, the last one of it.
Expected<Rule> rule_of(std::string_view text) {
  Program program;
  LUMEN_TRY(program.run_text(std::string(kTypedDeclarations) + std::string(text), "t.egg"));
  return program.egraph().rule(static_cast<RuleId>(program.egraph().rule_count() - 1));
}

std::string failure(std::string_view text) {
  Program program;
  const Expected<void> result = program.run_text(std::string(kTypedDeclarations) + "\n" + std::string(text), "t.egg");
  if (result.ok()) return "no error";
  EXPECT_EQ(result.diag().where.file, "t.egg");
  EXPECT_GE(result.diag().where.line, 2);
  return result.diag().message;
}

}  // namespace

TEST(Typecheck, NamesThatMeanNothing) {
  EXPECT_EQ(failure("(Nun 1)"), "unbound function `Nun`; did you mean `Num`?");
  EXPECT_EQ(failure("(rule ((Num x)) ((Num y)))"), "unbound symbol `y`");
  EXPECT_EQ(failure("(function f (Int) i64 :no-merge)"), "unknown sort `Int`; did you mean `Ints`?");
  EXPECT_EQ(failure("(function f (i64) i64 :merge (min old other))"), "unbound symbol `other`");
  EXPECT_EQ(failure("(rule ((Num x)) ((Num x)) :ruleset r)"), "no ruleset `r`");
}

TEST(Typecheck, SortsThatDisagree) {
  EXPECT_EQ(failure("(Add (Num 1) 2)"), "expected M, but this is i64");
  EXPECT_EQ(failure("(Num 1 2)"), "`Num` takes 1 argument, but 2 are given");
  EXPECT_EQ(failure("(rule ((Num x) (Add x y)) ())"), "expected M, but this is i64");
  EXPECT_EQ(failure("(+ 1 1.5)"), "no `+` fits (i64 f64) -> ?");
  EXPECT_EQ(failure("(union 1 2)"), "cannot union values of sort i64");
  EXPECT_EQ(failure("(rewrite (Num x) x)"), "expected M, but this is i64");
  EXPECT_EQ(failure("(constructor F () i64)"), "the constructor `F` must make values of a declared sort, not of i64");
}

TEST(Typecheck, SortsThatNothingDecides) {
  EXPECT_EQ(failure("(check (= x y))"), "cannot infer the sort of `x`");
  EXPECT_EQ(failure("(let e (vec-empty))"), "cannot infer which `vec-empty` is meant");
  EXPECT_EQ(failure("(let e (vec-of))"), "cannot infer which `vec-of` is meant");
}

TEST(Typecheck, ContextDecidesEmptyContainers) {
  EXPECT_EQ(failure("(ints (vec-empty)) (rule ((ints x) (= y (vec-empty))) ((ints y))) (check (ints (vec-of)))"),
            "no error");
}

TEST(Typecheck, WhatMustNotBeDone) {
  EXPECT_EQ(failure("(set (Num 1) (Num 2))"), "cannot set the constructor `Num`; use union");
  EXPECT_EQ(failure("(set (+ 1 2) 3)"), "cannot set `+`: it is no function or relation");
  EXPECT_EQ(failure("(subsume (size (Num 1)))"), "cannot subsume the function `size`: only constructors and relations");
  EXPECT_EQ(failure("(rule ((= e (Num x))) ((set (size (Add e e)) (size e))))").substr(0, 45),
            "a rule must not read the function `size` in i");
}

TEST(Typecheck, NamesAreUsedOnce) {
  EXPECT_EQ(failure("(sort M)"), "`M` is already declared as a sort");
  EXPECT_EQ(failure("(relation Num (i64))"), "`Num` is already declared as a function");
  EXPECT_EQ(failure("(function + (i64) i64 :no-merge)"), "`+` is a primitive");
  EXPECT_EQ(failure("(let x 1) (let x 2)"), "`x` is already declared as a global");
  EXPECT_EQ(failure("(rule ((Num edge)) ())"), "variable `edge` has the name of a function");
  EXPECT_EQ(failure("(let $x 1) (rule ((Num x)) ())"), "variable `x` is too like the global `$x`");
  EXPECT_EQ(failure("(rule ((Num x)) ((let x 1)))"), "variable `x` is defined already");
  EXPECT_EQ(failure("(rule ((Num i64)) ())"), "no error");
}

TEST(Typecheck, FactsAreEqualWhenTheirArgumentsAre) {
  const std::string facts = "(relation p (i64 M)) (relation q (i64)) (q 1) (p 1 (Num 1)) (p 1 (Num 2))";
  EXPECT_EQ(failure(facts + "(check (= x (p 1 y)) (= x (p z (Num 2))))"), "no error");
  EXPECT_EQ(failure(facts + "(check (= (p 1 (Num 1)) (p 1 (Num 2))))"),
            "check failed: (= (p 1 (Num 1)) (p 1 (Num 2)))");
  EXPECT_EQ(failure(facts + "(union (Num 1) (Num 2)) (check (= (p 1 (Num 1)) (p 1 (Num 2))))"), "no error");
  EXPECT_EQ(failure(facts + "(check (= (p 1 (Num 1)) (q 1)))"), "expected a fact of `p`, but this is a fact of `q`");
  EXPECT_EQ(failure(facts + "(union (q 1) (q 2))"), "cannot union values of sort a fact of `q`");
}

TEST(Typecheck, UngroundedVariables) {
  EXPECT_EQ(failure("(rule ((Num x) (< y 3)) ())"), "variable `y` is ungrounded: no pattern binds it");
  EXPECT_EQ(failure("(rule ((Num x) (= x (+ y 1))) ())"), "variable `y` is ungrounded: no pattern binds it");
  EXPECT_EQ(failure("(rule ((Num x) (= y (+ x 1)) (= z y)) ((Num z)))"), "no error");
}

TEST(Typecheck, FunctionValues) {
  EXPECT_EQ(failure("(let f (unstable-fn \"+\" 1)) (check (= 3 (unstable-app f 2)))"), "no error");
  EXPECT_EQ(failure("(let f (unstable-fn \"nope\"))").substr(0, 23), "unbound function `nope`");
  EXPECT_EQ(failure("(let f (unstable-fn \"Num\" 1))"), "no function sort fits `Num` with 1 argument given");
}

TEST(Lower, NestedPatternsBecomeAtoms) {
  const Rule rule = *rule_of("(rewrite (Add a (Num 0)) a)");
  ASSERT_EQ(rule.query.atoms.size(), 2u);
  EXPECT_EQ(rule.query.variables, 3u);
  EXPECT_EQ(rule.query.atoms[0].slots[0].kind, Slot::Kind::value);
  EXPECT_EQ(rule.query.atoms[1].slots[1], rule.query.atoms[0].slots[1]);
  ASSERT_EQ(rule.actions.size(), 1u);
  EXPECT_EQ(rule.actions[0].kind, Action::Kind::unite);
}

TEST(Lower, EqualPatternsAreMatchedOnce) {
  const Rule rule = *rule_of("(rule ((= e (Add (Num x) (Num x))) (Num x) (= y x) (= (Num y) z)) ((union e z)))");
  EXPECT_EQ(rule.query.atoms.size(), 2u);
  EXPECT_EQ(rule.query.variables, 3u);
}

TEST(Lower, HeadsShareTermsAmongThemselvesAndWithTheBody) {
  const Rule rule = *rule_of("(rewrite (Mul a (Add b c)) (Add (Mul a (Add b c)) (Add (Mul b c) (Mul b c))))");
  ASSERT_EQ(rule.actions.size(), 4u);  // Mul b c, two Adds, the union
  EXPECT_EQ(rule.variables, rule.query.variables + 3);
}

TEST(Lower, CallsStandBehindWhatBindsTheirArguments) {
  const Rule rule = *rule_of("(rule ((= z (+ y 1)) (= y (+ x 1)) (Num x)) ((Num z)))");
  ASSERT_EQ(rule.query.calls.size(), 2u);
  EXPECT_EQ(rule.query.calls[1].args[0], rule.query.calls[0].result);
}

TEST(Lower, RelationsHaveNoResultVariable) {
  const Rule rule = *rule_of("(rule ((edge x y) (edge y z)) ((edge x z)))");
  EXPECT_EQ(rule.query.variables, 3u);
  EXPECT_EQ(rule.query.atoms[0].slots.back(), Slot::value(0));
}

TEST(Lower, SimpleMergesAreRecognised) {
  Program program;
  ASSERT_TRUE(program
                  .run_text("(function f () i64 :merge old) (function g () i64 :merge new)"
                            "(function h () i64 :merge (+ old (+ old new))) (function k () i64 :no-merge)",
                            "t.egg")
                  .ok());
  EXPECT_EQ(program.egraph().table(0).merge, Merge::old);
  EXPECT_EQ(program.egraph().table(1).merge, Merge::fresh);
  EXPECT_EQ(program.egraph().table(2).merge, Merge::lambda);
  EXPECT_EQ(program.egraph().table(2).merge_lambda.actions.size(), 2u);
  EXPECT_EQ(program.egraph().table(3).merge, Merge::error);
}

}  // namespace lumen::egraph
