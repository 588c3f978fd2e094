#include "lumen/egraph/core/primitive.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "calculator.h"
#include "lumen/egraph/core/typed_primitive.h"

namespace lumen::egraph {
namespace {

struct Case {
  const char* expression;
  const char* expected;  // "fails": no result; "?": no such primitive
};

void expect_all(Calculator& calculator, std::initializer_list<Case> cases) {
  for (const Case& c : cases) EXPECT_EQ(calculator(c.expression), c.expected) << c.expression;
}

TEST(Primitives, I64FailsInsteadOfOverflowing) {
  Calculator calculator;
  expect_all(calculator, {{"(+ 9223372036854775807 1)", "fails"},
                          {"(- -9223372036854775808 1)", "fails"},
                          {"(* 4294967296 2147483648)", "fails"},
                          {"(/ 1 0)", "fails"},
                          {"(% 1 0)", "fails"},
                          {"(/ -9223372036854775808 -1)", "fails"},
                          {"(% -9223372036854775808 -1)", "fails"},
                          {"(abs -9223372036854775808)", "fails"},
                          {"(<< 1 64)", "fails"},
                          {"(<< 1 -1)", "fails"},
                          {"(>> 1 64)", "fails"},
                          {"(log2 0)", "fails"},
                          {"(log2 -1)", "fails"},
                          {"(< 2 1)", "fails"},
                          {"(neg 1)", "?"},
                          {"(+ 1 2 3)", "?"}});
}

TEST(Primitives, I64) {
  Calculator calculator;
  expect_all(calculator, {{"(/ 7 -2)", "-3"},
                          {"(% -7 3)", "-1"},
                          {"(<< 1 63)", "-9223372036854775808"},
                          {"(>> -8 1)", "-4"},
                          {"(not-i64 5)", "-6"},
                          {"(log2 9)", "3"},
                          {"(abs -5)", "5"},
                          {"(& 5 3)", "1"},
                          {"(| 5 3)", "7"},
                          {"(^ 5 3)", "6"},
                          {"(< 1 2)", "()"},
                          {"(bool-= 1 2)", "false"},
                          {"(bool->= 2 2)", "true"},
                          {"(min -1 2)", "-1"},
                          {"(max -1 2)", "2"},
                          {"(to-string -5)", "\"-5\""},
                          {"(- 2147483648 1)", "2147483647"},
                          {"(+ 2147483647 1)", "2147483648"}});
}

TEST(Primitives, F64) {
  Calculator calculator;
  expect_all(calculator, {{"(/ 1.0 0.0)", "fails"},
                          {"(% 1.0 0.0)", "fails"},
                          {"(% -5.5 2.0)", "-1.5"},
                          {"(^ 2.0 0.5)", "1.4142135623730951"},
                          {"(bool-< 1.0 2.0)", "?"},
                          {"(to-i64 -1.9)", "-1"},
                          {"(to-i64 1e300)", "9223372036854775807"},
                          {"(to-i64 (^ -8.0 0.5))", "0"},
                          {"(to-f64 3)", "3.0"},
                          {"(neg 1.5)", "-1.5"}});
}

TEST(Primitives, NanIsTheGreatestNumber) {
  Calculator calculator;
  expect_all(calculator, {{"(^ -8.0 0.5)", "NaN"},
                          {"(< (^ -8.0 0.5) 1.0)", "fails"},
                          {"(> (^ -8.0 0.5) 1.0)", "()"},
                          {"(>= (^ -8.0 0.5) (^ -8.0 0.5))", "()"},
                          {"(min (^ -8.0 0.5) 1.0)", "1.0"},
                          {"(max 1.0 (^ -8.0 0.5))", "NaN"},
                          {"(!= (^ -8.0 0.5) (^ -8.0 0.5))", "fails"}});
}

TEST(Primitives, F64PrintsAllDigits) {
  EXPECT_EQ(print_f64(1), "1.0");
  EXPECT_EQ(print_f64(-0.0), "-0.0");
  EXPECT_EQ(print_f64(1e-7), "0.0000001");
  EXPECT_EQ(print_f64(1e18), "1000000000000000000.0");
  EXPECT_EQ(print_f64(1e19), "10000000000000000000");
  EXPECT_EQ(print_f64(9007199254740993.0), "9007199254740992.0");
  EXPECT_EQ(print_f64(-1.0 / 0.0), "-inf");
  Calculator calculator;
  expect_all(calculator, {{"(to-string 1e15)", "\"1000000000000000.0\""},
                          {"(to-string 1e16)", "\"1e16\""},
                          {"(to-string 0.0001)", "\"0.0001\""},
                          {"(to-string 0.00001234)", "\"1.234e-5\""},
                          {"(to-string -1e22)", "\"-1e22\""},
                          {"(to-string 5e-324)", "\"5e-324\""}});
}

TEST(Primitives, StringAndBool) {
  Calculator calculator;
  expect_all(calculator, {{"(+ \"a\" \"b\" \"c\")", "\"abc\""},
                          {"@String(+)", "\"\""},
                          {"(replace \"aXbX\" \"X\" \"yy\")", "\"ayybyy\""},
                          {"(replace \"aaa\" \"aa\" \"b\")", "\"ba\""},
                          {"(replace \"\xc3\xa4"
                           "b\" \"\" \"-\")",
                           "\"-\xc3\xa4-b-\""},
                          {"(count-matches \"aaaa\" \"aa\")", "2"},
                          {"(count-matches \"abc\" \"\")", "4"},
                          {"(< \"a\" \"b\")", "?"},
                          {"(not true)", "false"},
                          {"(and true)", "?"},
                          {"(or)", "false"},
                          {"(or false false true)", "true"},
                          {"(xor true true)", "false"},
                          {"(=> true false)", "false"},
                          {"(guard false)", "fails"},
                          {"(guard true)", "()"}});
}

TEST(Primitives, Rational) {
  Calculator calculator;
  expect_all(calculator, {{"(rational 1 0)", "fails"},
                          {"(rational 2 -4)", "(rational -1 2)"},
                          {"(rational 0 5)", "(rational 0 1)"},
                          {"(+ (rational 9223372036854775807 1) (rational 1 1))", "fails"},
                          {"(+ (rational 1 4294967297) (rational 1 4294967298))", "fails"},
                          {"(+ (rational 1 2) (rational 1 3))", "(rational 5 6)"},
                          {"(* (rational 3037000500 7) (rational 7 3037000500))", "(rational 1 1)"},
                          {"(/ (rational 1 2) (rational 0 3))", "fails"},
                          {"(/ (rational 1 2) (rational -3 1))", "(rational -1 6)"},
                          {"(floor (rational -1 2))", "(rational -1 1)"},
                          {"(ceil (rational -1 2))", "(rational 0 1)"},
                          {"(round (rational -1 2))", "(rational -1 1)"},
                          {"(round (rational 9223372036854775807 2))", "(rational 4611686018427387904 1)"},
                          {"(pow (rational 2 3) (rational 3 1))", "(rational 8 27)"},
                          {"(pow (rational 2 3) (rational -1 1))", "fails"},
                          {"(pow (rational 2 1) (rational 3 2))", "(rational 2 1)"},
                          {"(pow (rational 2 1) (rational 63 1))", "fails"},
                          {"(pow (rational 0 1) (rational 0 1))", "fails"},
                          {"(sqrt (rational 4 9))", "(rational 2 3)"},
                          {"(sqrt (rational 2 9))", "fails"},
                          {"(sqrt (rational 0 1))", "fails"},
                          {"(log (rational 2 1))", "fails"},
                          {"(cbrt (rational 1 1))", "(rational 1 1)"},
                          {"(to-f64 (rational 1 3))", "0.3333333333333333"},
                          {"(< (rational 9223372036854775807 3) (rational 9223372036854775807 2))", "()"},
                          {"(denom (rational 2 4))", "2"}});
}

TEST(Primitives, BigInt) {
  Calculator calculator;
  expect_all(calculator, {{"(/ (bigint 7) (bigint 0))", "fails"},
                          {"(/ (bigint -7) (bigint 2))", "(from-string \"-3\")"},
                          {"(% (bigint -7) (bigint 2))", "(from-string \"-1\")"},
                          {"(& (bigint -6) (bigint 3))", "(from-string \"2\")"},
                          {"(| (bigint -6) (bigint 3))", "(from-string \"-5\")"},
                          {"(^ (bigint -6) (bigint 3))", "(from-string \"-7\")"},
                          {"(<< (bigint 1) 100)", "(from-string \"1267650600228229401496703205376\")"},
                          {"(<< (bigint 1) -1)", "fails"},
                          {"(<< (bigint 1) 9223372036854775807)", "fails"},
                          {"(>> (bigint -7) 1)", "(from-string \"-4\")"},
                          {"(>> (bigint -8) 3)", "(from-string \"-1\")"},
                          {"(>> (bigint -7) 9223372036854775807)", "(from-string \"-1\")"},
                          {"(not-Z (bigint 5))", "(from-string \"-6\")"},
                          {"(bits (bigint -256))", "(from-string \"9\")"},
                          {"(bool-< (bigint 1) (bigint 2))", "true"},
                          {"(to-string (<< (bigint 1) 70))", "\"1180591620717411303424\""},
                          {"(from-string \"1__0_\")", "(from-string \"10\")"},
                          {"(from-string \"+012\")", "(from-string \"12\")"},
                          {"(from-string \"-_1\")", "fails"},
                          {"(from-string \"-\")", "fails"},
                          {"(from-string \"\")", "fails"},
                          {"(from-string \"0x10\")", "fails"}});
}

TEST(Primitives, BigRat) {
  Calculator calculator;
  const auto rat = [](std::string n, std::string d) { return "(bigrat (bigint " + n + ") (bigint " + d + "))"; };
  const auto shown = [](std::string n, std::string d) {
    return "(bigrat (from-string \"" + n + "\") (from-string \"" + d + "\"))";
  };
  EXPECT_EQ(calculator(rat("1", "0")), "fails");
  EXPECT_EQ(calculator(rat("2", "-4")), shown("-1", "2"));
  EXPECT_EQ(calculator("(+ " + rat("1", "2") + rat("1", "3") + ")"), shown("5", "6"));
  EXPECT_EQ(calculator("(/ " + rat("1", "2") + rat("0", "1") + ")"), "fails");
  EXPECT_EQ(calculator("(pow " + rat("-2", "3") + rat("-3", "1") + ")"), shown("-27", "8"));
  EXPECT_EQ(calculator("(pow " + rat("0", "1") + rat("0", "1") + ")"), shown("1", "1"));
  EXPECT_EQ(calculator("(pow " + rat("0", "1") + rat("-2", "1") + ")"), "fails");
  EXPECT_EQ(calculator("(pow " + rat("2", "3") + rat("1", "2") + ")"), "fails");
  EXPECT_EQ(calculator("(pow " + rat("-1", "1") + rat("9223372036854775807", "1") + ")"), shown("-1", "1"));
  EXPECT_EQ(calculator("(pow " + rat("2", "1") + rat("9223372036854775807", "1") + ")"), "fails");
  EXPECT_EQ(calculator("(round " + rat("-3", "2") + ")"), shown("-2", "1"));
  EXPECT_EQ(calculator("(ceil " + rat("-1", "2") + ")"), shown("0", "1"));
  EXPECT_EQ(calculator("(sqrt " + rat("4", "9") + ")"), shown("2", "3"));
  EXPECT_EQ(calculator("(sqrt " + rat("-4", "9") + ")"), "fails");
  EXPECT_EQ(calculator("(numer " + rat("2", "4") + ")"), "(from-string \"1\")");
  EXPECT_EQ(calculator("(to-f64 " + rat("1", "3") + ")"), "0.3333333333333333");
  EXPECT_EQ(calculator("(to-f64 (bigrat (<< (bigint 1) 2000) (bigint 3)))"), "inf");
  EXPECT_EQ(calculator("(to-f64 (bigrat (bigint 3) (<< (bigint 1) 2000)))"), "0.0");
}

TEST(Primitives, OverAnySort) {
  Calculator calculator;
  calculator.add_sort("Ints", "Vec", {kI64});
  expect_all(calculator, {{"(!= 1 1)", "fails"},
                          {"(!= 1 2)", "()"},
                          {"(!= 1 \"a\")", "?"},
                          {"(value-eq \"a\" \"a\")", "()"},
                          {"(value-eq 1 2)", "fails"},
                          {"(bool-!= (vec-of 1) (vec-of 1))", "false"},
                          {"(ordering-max 3 2)", "3"},
                          {"(ordering-max -3 2)", "-3"},
                          {"(ordering-min \"later\" \"sooner\")", "\"later\""}});
}

TEST(Primitives, Vec) {
  Calculator calculator;
  const SortId ints = calculator.add_sort("Ints", "Vec", {kI64});
  calculator.add_sort("Nested", "Vec", {ints});
  calculator.add_sort("Elements", "Vec", {calculator.add_eq_sort("E")});
  expect_all(calculator, {{"(vec-of 1 2)", "(vec-of 1 2)"},
                          {"(vec-of (vec-of 1) @Ints(vec-empty))", "(vec-of (vec-of 1) (vec-empty))"},
                          {"(vec-push (vec-of 1) 2)", "(vec-of 1 2)"},
                          {"(vec-pop (vec-of 1))", "(vec-empty)"},
                          {"(vec-pop @Ints(vec-empty))", "(vec-empty)"},
                          {"(vec-append (vec-of 1) (vec-of 2) (vec-of 3))", "(vec-of 1 2 3)"},
                          {"(vec-get (vec-of 1 2) 1)", "2"},
                          {"(vec-get (vec-of 1 2) 2)", "fails"},
                          {"(vec-get (vec-of 1 2) -1)", "fails"},
                          {"(vec-set (vec-of 1 2) 0 5)", "(vec-of 5 2)"},
                          {"(vec-set (vec-of 1 2) 2 5)", "fails"},
                          {"(vec-remove (vec-of 1 2 3) 1)", "(vec-of 1 3)"},
                          {"(vec-remove (vec-of 1 2 3) 3)", "fails"},
                          {"(vec-length (vec-of 1 2))", "2"},
                          {"(vec-contains (vec-of 1 2) 3)", "fails"},
                          {"(vec-not-contains (vec-of 1 2) 3)", "()"},
                          {"(vec-range 3)", "(vec-of 0 1 2)"},
                          {"(vec-range -1)", "(vec-empty)"},
                          {"(vec-range 9223372036854775807)", "fails"},
                          {"(vec-union (vec-of 1) (vec-of 2))", "?"},
                          {"(vec-union (vec-of (E 1) (E 2)) (vec-of (E 3)))", "fails"}});
  EXPECT_TRUE(calculator.united.empty());
  EXPECT_EQ(calculator("(vec-union (vec-of (E 1) (E 2)) (vec-of (E 3) (E 4)))"), "(vec-of (E 1) (E 2))");
  EXPECT_EQ(calculator.united, (std::vector<std::pair<Value, Value>>{{1, 3}, {2, 4}}));
}

TEST(Primitives, Set) {
  Calculator calculator;
  calculator.add_sort("Ints", "Set", {kI64});
  expect_all(calculator, {{"(set-of 3 1 2 1)", "(set-of 1 2 3)"},
                          {"(set-of -2 1 -3 2147483648 2147483647)", "(set-of 1 2147483647 -2 -3 2147483648)"},
                          {"(set-insert (set-of 1) 0)", "(set-of 0 1)"},
                          {"(set-insert (set-of 1) 1)", "(set-of 1)"},
                          {"(set-remove (set-of 1) 1)", "(set-of)"},
                          {"(set-remove (set-of 1) 2)", "(set-of 1)"},
                          {"(set-contains (set-of 1) 2)", "fails"},
                          {"(set-not-contains (set-of 1) 2)", "()"},
                          {"(set-union (set-of 1 2) (set-of 3))", "(set-of 1 2 3)"},
                          {"(set-diff (set-of 1 2) (set-of 2))", "(set-of 1)"},
                          {"(set-intersect (set-of 1 2) (set-of 2))", "(set-of 2)"},
                          {"(set-get (set-of 5 3) 1)", "5"},
                          {"(set-get (set-of 5 3) 2)", "fails"},
                          {"(set-length (set-of 5 3))", "2"}});
}

TEST(Primitives, MapAndPair) {
  Calculator calculator;
  calculator.add_sort("Map1", "Map", {kI64, kString});
  calculator.add_sort("Pair1", "Pair", {kI64, kString});
  const std::string map = "(map-insert (map-insert @Map1(map-empty) 2 \"b\") 1 \"a\")";
  EXPECT_EQ(calculator(map), "(map-insert (map-insert (map-empty) 1 \"a\") 2 \"b\")");
  EXPECT_EQ(calculator("(map-insert " + map + " 1 \"z\")"), "(map-insert (map-insert (map-empty) 1 \"z\") 2 \"b\")");
  EXPECT_EQ(calculator("(map-get " + map + " 2)"), "\"b\"");
  EXPECT_EQ(calculator("(map-get " + map + " 3)"), "fails");
  EXPECT_EQ(calculator("(map-remove " + map + " 2)"), "(map-insert (map-empty) 1 \"a\")");
  EXPECT_EQ(calculator("(map-remove " + map + " 3)"), calculator(map));
  EXPECT_EQ(calculator("(map-contains " + map + " 1)"), "()");
  EXPECT_EQ(calculator("(map-not-contains " + map + " 1)"), "fails");
  EXPECT_EQ(calculator("(map-length " + map + ")"), "2");
  EXPECT_EQ(calculator("(pair 1 \"a\")"), "(pair 1 \"a\")");
  EXPECT_EQ(calculator("(pair-second (pair 1 \"a\"))"), "\"a\"");
}

TEST(Primitives, MultiSet) {
  Calculator calculator;
  const SortId ints = calculator.add_sort("Ints", "MultiSet", {kI64});
  calculator.add_sort("Nested", "MultiSet", {ints});
  calculator.add_sort("Elements", "MultiSet", {calculator.add_eq_sort("E")});
  expect_all(calculator,
             {{"(multiset-of 3 1 2 1)", "(multiset-of 1 1 2 3)"},
              {"(multiset-single 5 0)", "(multiset-of)"},
              {"(multiset-single 5 -1)", "fails"},
              {"(multiset-pick (multiset-single 5 0))", "fails"},
              {"(multiset-pick-max (multiset-of 1 1 2 2 3))", "2"},
              {"(multiset-remove (multiset-of 1 1) 1)", "(multiset-of 1)"},
              {"(multiset-remove-swapped 2 (multiset-of 1 1))", "fails"},
              {"(multiset-subtract (multiset-of 1 2 2) (multiset-of 2))", "(multiset-of 1 2)"},
              {"(multiset-subtract (multiset-of 1 2 2) (multiset-of 1 1))", "fails"},
              {"(multiset-intersection (multiset-of 1 2 2) (multiset-of 2 2 2))", "(multiset-of 2 2)"},
              {"(multiset-sum (multiset-of 1 2) (multiset-of 1))", "(multiset-of 1 1 2)"},
              {"(multiset-reset-counts (multiset-of 1 1 2))", "(multiset-of 1 2)"},
              {"(multiset-count (multiset-of 1 1 2) 1)", "2"},
              {"(multiset-count (multiset-of 1 1 2) 9)", "0"},
              {"(multiset-not-contains-swapped 9 (multiset-of 1))", "()"},
              {"(multiset-sum-multisets (multiset-of (multiset-of 1 2) (multiset-of 1 2)))", "(multiset-of 1 1 2 2)"},
              {"(multiset-union-values (multiset-of (E 4) (E 3)))", "(E 3)"},
              {"(multiset-union-values (multiset-of 1))", "?"}});
}

// The order in which the sorts are declared must not matter.
TEST(Primitives, FunctionsMeetContainersInAnyOrder) {
  for (const bool functions_first : {false, true}) {
    Calculator calculator;
    if (functions_first) calculator.add_sort("F", "UnstableFn", {kI64, kString});
    calculator.add_sort("Ints", "Vec", {kI64});
    calculator.add_sort("Texts", "Vec", {kString});
    calculator.add_sort("Bag", "MultiSet", {kI64});
    calculator.add_sort("TextBag", "MultiSet", {kString});
    if (!functions_first) calculator.add_sort("F", "UnstableFn", {kI64, kString});
    expect_all(calculator, {{"(unstable-vec-map @F(unstable-fn \"to-string\") (vec-of 1 2))", "(vec-of \"1\" \"2\")"},
                            {"(unstable-multiset-map @F(unstable-fn \"to-string\") (multiset-of 7 7))",
                             "(multiset-of \"7\" \"7\")"}});
    std::multiset<std::string> names;
    for (const Primitive& primitive : calculator.primitives()) names.insert(primitive.name);
    EXPECT_EQ(names.count("unstable-vec-map"), 1u);
    EXPECT_EQ(names.count("unstable-multiset-map"), 1u);
  }
}

TEST(Primitives, ApplyingFunctions) {
  Calculator calculator;
  const SortId bag = calculator.add_sort("Bag", "MultiSet", {kI64});
  calculator.add_sort("Ints", "Vec", {kI64});
  calculator.add_sort("F0", "UnstableFn", {kI64});
  calculator.add_sort("F1", "UnstableFn", {kI64, kI64});
  calculator.add_sort("F2", "UnstableFn", {kI64, kI64, kI64});
  calculator.add_sort("Test", "UnstableFn", {kI64, kUnit});
  calculator.add_sort("Expand", "UnstableFn", {kI64, bag});
  calculator.add_sort("Index", "UnstableFn", {bag, kI64, kI64});
  const TableId f = calculator.add_table("f", {kI64}, kI64);
  calculator.add_table("index", {bag, kI64}, kI64);
  calculator.set(f, std::vector<Value>{1}, 10);
  expect_all(calculator,
             {{"@F1(unstable-fn \"f\")", "(unstable-fn \"f\")"},
              {"@F1(unstable-fn \"+\" 5)", "(unstable-fn \"+\" 5)"},
              {"(unstable-app @F1(unstable-fn \"f\") 1)", "10"},
              {"(unstable-app @F1(unstable-fn \"f\") 2)", "fails"},
              {"(unstable-app @F1(unstable-fn \"-\" 5) 2)", "3"},
              {"(unstable-app @F0(unstable-fn \"f\" 1))", "10"},
              {"(unstable-vec-map @F1(unstable-fn \"f\") (vec-of 1 2 1))", "(vec-of 10 10)"},
              {"(unstable-multiset-map @F1(unstable-fn \"f\") (multiset-of 1 1 2))", "(multiset-of 10 10)"},
              {"(unstable-multiset-filter @Test(unstable-fn \"<\" 2) (multiset-of 1 2 3 3))", "(multiset-of 3 3)"},
              {"(unstable-multiset-filter-not @Test(unstable-fn \"<\" 2) (multiset-of 1 2 3 3))", "(multiset-of 1 2)"},
              {"(unstable-multiset-reduce @F2(unstable-fn \"-\") 0 (multiset-of 1 2 3))", "-4"},
              {"(unstable-multiset-reduce @F2(unstable-fn \"-\") 7 (multiset-single 1 0))", "7"},
              {"(unstable-multiset-reduce @F2(unstable-fn \"/\") 0 (multiset-of 0 0))", "fails"},
              {"(unstable-multiset-flat-map @Expand(unstable-fn \"multiset-single\" 5) (multiset-of 2 2))",
               "(multiset-of 5 5 5 5)"},
              {"(unstable-multiset-fill-index (multiset-of 8 9 9) @Index(unstable-fn \"index\"))", "()"},
              {"(unstable-app @Index(unstable-fn \"index\") (multiset-of 8 9 9) 9)", "2"},
              {"(get-size! \"index\" \"nothing\")", "2"},
              {"(unstable-multiset-clear-index (multiset-of 8 9 9) @Index(unstable-fn \"index\"))", "()"},
              {"(get-size!)", "1"}});
}

TEST(ContainerSort, WrongArgumentsAreReported) {
  const std::vector<Sort> sorts = builtin_sorts();
  const auto message = [&](std::string_view presort, std::vector<SortId> arguments) {
    return make_container_sort("S", presort, arguments, sorts).diag().message;
  };
  EXPECT_EQ(message("List", {kI64}),
            "sort 'S': there is no container 'List'; known are Vec, Set, MultiSet, Map, Pair and UnstableFn");
  EXPECT_EQ(message("Vec", {}), "sort 'S': Vec takes 1 sort, 0 given");
  EXPECT_EQ(message("Map", {kI64}), "sort 'S': Map takes 2 sorts, 1 given");
  EXPECT_EQ(message("UnstableFn", {}), "sort 'S': UnstableFn takes at least 1 sort, 0 given");
}

TEST(ContainerSort, HoldsIdsThroughOthers) {
  Calculator calculator;
  const SortId eq = calculator.add_eq_sort("E");
  const SortId ints = calculator.add_sort("Ints", "Vec", {kI64});
  const SortId elements = calculator.add_sort("Elements", "Set", {eq});
  const SortId map = calculator.add_sort("Nested", "Map", {ints, elements});
  EXPECT_FALSE(calculator.sort(ints).holds_ids);
  EXPECT_TRUE(calculator.sort(elements).holds_ids);
  EXPECT_TRUE(calculator.sort(map).holds_ids);
}

TEST(ContainerSort, NormalForms) {
  const auto normalized = [](ContainerKind kind, std::vector<Value> sequence) {
    normalize_sequence(kind, sequence);
    return sequence;
  };
  EXPECT_EQ(normalized(ContainerKind::vec, {2, 1, 2}), (std::vector<Value>{2, 1, 2}));
  EXPECT_EQ(normalized(ContainerKind::set, {2, 1, 2}), (std::vector<Value>{1, 2}));
  EXPECT_EQ(normalized(ContainerKind::multiset, {2, 1, 2}), (std::vector<Value>{1, 2, 2}));
  EXPECT_EQ(normalized(ContainerKind::map, {2, 7, 1, 9, 2, 8}), (std::vector<Value>{1, 9, 2, 8}));
}

TEST(ContainerSort, ReservedNames) {
  for (const char* name : {"vec-of", "set-diff", "map-length", "pair", "unstable-fn", "unstable-vec-map",
                           "multiset-sum-multisets", "unstable-multiset-fill-index", "vec-union"}) {
    EXPECT_TRUE(is_reserved_primitive(name)) << name;
  }
  for (const char* name : {"multiset-pick", "multiset-union-values", "rebuild", "+"}) {
    EXPECT_FALSE(is_reserved_primitive(name)) << name;
  }
}

// While several threads match, nothing is interned; the engine is told to call again.
TEST(Frozen, NewValuesNeedSerialExecution) {
  Calculator calculator;
  calculator.add_sort("Ints", "Vec", {kI64});
  EXPECT_EQ(calculator("(- 0 5)"), "-5");
  EXPECT_EQ(calculator("(vec-of 1 2)"), "(vec-of 1 2)");
  calculator("(+ -7 \"x\" 2.5)");  // interns its literals
  calculator.frozen = true;
  EXPECT_EQ(calculator("(+ 2147483640 7)"), "2147483647");
  EXPECT_EQ(calculator("(- 0 5)"), "-5");
  EXPECT_EQ(calculator("(vec-of 1 2)"), "(vec-of 1 2)");
  EXPECT_EQ(calculator("(+ 9223372036854775807 1)"), "fails");
  EXPECT_FALSE(calculator.needs_serial);
  for (const char* expression : {"(- 0 6)", "(vec-of 2 1)", "(+ \"x\" \"x\")", "(* 2.5 2.5)", "(rational 1 2)"}) {
    calculator.needs_serial = false;
    EXPECT_EQ(calculator(expression), "fails") << expression;
    EXPECT_TRUE(calculator.needs_serial) << expression;
  }
}

TEST(TypedPrimitive, TypesOfTheHost) {
  struct View {
    int64_t stride;
    bool operator==(const View&) const = default;
  };
  std::vector<Sort> sorts = builtin_sorts();
  Sort& views = sorts.emplace_back();
  views.kind = SortKind::base;
  views.pool = std::make_shared<ValuePool<View>>([](const View& v) { return static_cast<uint64_t>(v.stride); },
                                                 [](const View&) { return "view"; });
  const Primitive scale = typed_primitive("scale", sorts, [](const View& v, int64_t by) -> std::optional<View> {
    if (by == 0) return std::nullopt;
    return View{v.stride * by};
  });
  EXPECT_EQ(scale.params, (std::vector<SortId>{kBuiltinSorts, kI64}));
  EXPECT_EQ(scale.result, kBuiltinSorts);
  EXPECT_FALSE(scale.serial);
  PrimitiveContext context(sorts);
  const Value view = views.values<View>().intern({3});
  EXPECT_EQ(views.values<View>().at(scale.apply(context, std::vector<Value>{view, 4}).value()).stride, 12);
  EXPECT_EQ(scale.apply(context, std::vector<Value>{view, 0}), std::nullopt);
}

}  // namespace
}  // namespace lumen::egraph
