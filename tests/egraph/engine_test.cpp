// The engine without the language: tables, indexes, rebuilding, iterations, limits.
#include <gtest/gtest.h>

#include "lumen/egraph/core/state.h"
#include "lumen/egraph/lang/program.h"
#include "tests/egraph/sample_graph.h"

namespace lumen::egraph {
namespace {

// A program that must run, and what it printed.
struct RunProgram {
  explicit RunProgram(ProgramOptions options = {}) : program(options, [this](std::string_view s) { printed += s; }) {}
  RunProgram(std::string_view text, ProgramOptions options = {}) : RunProgram(options) { run(text); }
  void run(std::string_view text) {
    const Expected<void> result = program.run_text(text, "test.egg");
    EXPECT_TRUE(result.ok()) << result.diag().str();
  }
  std::string printed;
  Program program;
};

TableDecl decl_of(std::vector<SortId> params) {
  TableDecl decl;
  decl.name = "t";
  decl.params = std::move(params);
  return decl;
}

std::vector<std::vector<Value>> all_rows(EGraph& graph) {
  std::vector<std::vector<Value>> rows;
  for (TableId t = 0; t < graph.table_count(); ++t) {
    graph.for_each_row(t, [&](std::span<const Value> columns, bool subsumed) {
      rows.emplace_back(columns.begin(), columns.end()).push_back(subsumed ? 1 : 0);
    });
  }
  return rows;
}

TEST(UnionFind, represents_a_class_by_its_smallest_id) {
  UnionFind ids;
  for (int i = 0; i < 6; ++i) ids.add();
  EXPECT_FALSE(ids.unite(3, 3));
  EXPECT_TRUE(ids.unite(4, 5));
  EXPECT_TRUE(ids.unite(5, 2));
  EXPECT_FALSE(ids.unite(2, 4));
  EXPECT_EQ(ids.find(5), 2u);
  EXPECT_EQ(ids.find(4), 2u);
  EXPECT_EQ(ids.find(3), 3u);
  const GrowArray<Value> displaced = ids.take_displaced();
  EXPECT_EQ(std::vector<Value>(displaced.data(), displaced.data() + displaced.size()), (std::vector<Value>{5, 4}));
  EXPECT_EQ(ids.displaced().size(), 0u);
  EXPECT_EQ(ids.merges(), 2u);
}

TEST(Table, finds_live_rows_by_their_arguments) {
  Table table(decl_of({kI64, kI64}));
  const auto find = [&](Value a, Value b) { return table.find(std::array{a, b}.data()); };
  EXPECT_EQ(find(1, 2), kNone);
  for (Value i = 0; i < 5000; ++i) {
    const std::array args{i, i % 7};
    table.append(args.data(), i, Table::hash(args.data(), 2));
  }
  for (Value i = 0; i < 5000; ++i) ASSERT_EQ(find(i, i % 7), i);
  EXPECT_EQ(find(3, 4), kNone);
  table.kill(3);
  EXPECT_EQ(find(3, 3), kNone);
  EXPECT_EQ(table.live(), 4999u);
  const std::array again{Value{3}, Value{3}};
  EXPECT_EQ(table.append(again.data(), 9, Table::hash(again.data(), 2)), 5000u);
  EXPECT_EQ(find(3, 3), 5000u);

  const Table copy = table;
  table.kill(4);
  EXPECT_EQ(copy.find(std::array<Value, 2>{4, 4}.data()), 4u);
}

TEST(Table, compacts_and_says_where_rows_went) {
  Table table(decl_of({kI64}));
  for (Value i = 0; i < 100; ++i) table.append(&i, i, Table::hash(&i, 1));
  for (Row r = 0; r < 100; ++r) {
    if (r % 10 != 7) table.kill(r);
  }
  table.set_subsumed(27);
  std::array<Row, 4> moved{0, 7, 8, 100};
  table.compact(moved);
  EXPECT_EQ(moved, (std::array<Row, 4>{0, 0, 1, 10}));
  EXPECT_EQ(table.rows(), 10u);
  EXPECT_TRUE(table.subsumed(2));
  EXPECT_FALSE(table.subsumed(3));
  for (Value i = 0; i < 100; ++i) EXPECT_EQ(table.find(&i), i % 10 == 7 ? i / 10 : kNone);
}

TEST(Index, lists_the_rows_of_a_value_in_order) {
  for (const size_t range : {size_t{0}, size_t{400}}) {  // hash table, array
    Table table(decl_of({kI64}));
    for (Value i = 0; i < 3000; ++i) table.append(&i, i * i % 400, Table::hash(&i, 1));
    table.kill(20);
    const Index& index = table.catch_up(1, 3000, range);
    std::vector<Row> expected;
    for (Row r = 0; r < 3000; ++r) {
      if (r * r % 400 == 0 && r != 20) expected.push_back(r);
    }
    const std::span<const Row> found = index.find(0);
    EXPECT_EQ(std::vector<Row>(found.begin(), found.end()), expected);
    EXPECT_TRUE(index.find(3).empty());  // no square
    EXPECT_TRUE(index.find(4000).empty());
  }
}

TEST(Rebuild, merges_what_has_equal_arguments) {
  SampleGraph g;
  const Value a = g.number(1);
  const Value b = g.number(2);
  const Value na = g.make(g.neg, {a});
  const Value nb = g.make(g.neg, {b});
  const Value sum = g.make(g.add, {na, nb});
  g.graph.unite(g.m, a, b);
  ASSERT_TRUE(g.graph.rebuild().ok());
  EXPECT_EQ(g.graph.find(g.m, na), g.graph.find(g.m, nb));
  EXPECT_EQ(g.graph.lookup(g.add, std::array{nb, nb}), g.graph.find(g.m, sum));
  EXPECT_EQ(g.graph.row_count(g.neg), 1u);
  EXPECT_EQ(g.graph.class_count(), 3u);
}

TEST(Rebuild, follows_chains_of_congruence) {
  // f^3(a) = a and f^5(a) = a, so f(a) = a.
  SampleGraph g;
  std::vector<Value> power{g.number(0)};
  for (int i = 0; i < 5; ++i) power.push_back(g.make(g.neg, {power.back()}));
  g.graph.unite(g.m, power[3], power[0]);
  g.graph.unite(g.m, power[5], power[0]);
  ASSERT_TRUE(g.graph.rebuild().ok());
  for (const Value p : power) EXPECT_EQ(g.graph.find(g.m, p), power[0]);
  EXPECT_EQ(g.graph.row_count(g.neg), 1u);
}

TEST(Rebuild, makes_containers_of_merged_elements_one) {
  SampleGraph g;
  const Value a = g.number(1);
  const Value b = g.number(2);
  const Value wa = g.make(g.wrap, {g.vector({a, b})});
  const Value wb = g.make(g.wrap, {g.vector({b, a})});
  g.graph.unite(g.m, a, b);
  ASSERT_TRUE(g.graph.rebuild().ok());
  EXPECT_EQ(g.graph.find(g.m, wa), g.graph.find(g.m, wb));
}

TEST(EGraph, set_erase_and_subsume_rows) {
  SampleGraph g;
  const Value a = g.number(1);
  ASSERT_TRUE(g.graph.set(g.size, std::array{a}, g.i64(4)).ok());
  EXPECT_EQ(g.graph.lookup(g.size, std::array{a}), g.i64(4));
  ASSERT_TRUE(g.graph.erase(g.size, std::array{a}).ok());
  EXPECT_EQ(g.graph.lookup(g.size, std::array{a}), std::nullopt);
  ASSERT_TRUE(g.graph.erase(g.size, std::array{a}).ok());  // none is there
  g.make(g.seen, {g.i64(3), a});
  ASSERT_TRUE(g.graph.erase(g.seen, std::array{g.i64(3), a}).ok());
  EXPECT_EQ(g.graph.row_count(g.seen), 0u);
  g.graph.subsume(g.num, std::array{g.i64(1)});
  ASSERT_TRUE(g.graph.rebuild().ok());
  bool subsumed = false;
  g.graph.for_each_row(g.num, [&](std::span<const Value>, bool flag) { subsumed = flag; });
  EXPECT_TRUE(subsumed);
}

TEST(EGraph, copies_go_their_own_ways) {
  RunProgram ran("(datatype E (Num i64) (Add E E)) (rewrite (Add a b) (Add b a)) (let $x (Add (Num 1) (Num 2)))");
  EGraph copy = ran.program.egraph();
  ran.run("(run 3) (check (= $x (Add (Num 2) (Num 1))))");
  const TableId add = *ran.program.find_table("Add");
  EXPECT_EQ(ran.program.egraph().row_count(add), 2u);
  EXPECT_EQ(copy.row_count(add), 1u);
  const std::vector<RuleId> rules = *ran.program.rules_of("");
  EXPECT_TRUE(copy.run(rules, {})->changed);
  EXPECT_FALSE(copy.run(rules, {})->changed);
  EXPECT_EQ(copy.row_count(add), 2u);
}

TEST(Iteration, deletes_only_rows_of_before) {
  // Made and deleted at once: the row stays. Merged and deleted at once: the row that was matched goes.
  EXPECT_EQ(RunProgram("(relation r (i64)) (relation s (i64)) (r 1)"
                       "(rule ((r x)) ((s x))) (rule ((r x)) ((delete (s x)))) (run 1) (print-size s)")
                .printed,
            "1\n");
  EXPECT_EQ(RunProgram("(datatype M (A) (B) (F M)) (A) (B) (F (B))"
                       "(rule ((= f (F b))) ((union b (A)) (delete (F b)))) (run 1) (print-size F)")
                .printed,
            "0\n");
}

TEST(Iteration, matches_globals_as_they_were) {
  RunProgram ran(
      "(datatype M (A) (B)) (relation r (M)) (relation hit (M)) (let $b (B)) (A) (r $b)"
      "(rule () ((union (A) (B)))) (rule ((r $b)) ((hit $b))) (run 1) (print-size hit)");
  EXPECT_EQ(ran.printed, "1\n");
}

// A fact moves along 1,000 terms of one argument, one a time: every list ends with (Nil), and none but the next is
// looked at.
TEST(Iteration, begins_with_what_is_new_where_a_term_without_variables_is_everywhere) {
  RunProgram ran(
      "(datatype* (E (Leaf) (Op List)) (List (Nil) (Cons E List))) (relation known (E)) (ruleset make)"
      "(function at (i64) E :merge new) (set (at 0) (Leaf)) (known (Leaf))"
      "(rule ((= e (at i)) (< i 1000)) ((set (at (+ i 1)) (Op (Cons e (Nil))))) :ruleset make)"
      "(run-schedule (saturate make))"
      "(rule ((= e (Op (Cons x (Nil)))) (known x)) ((known e)) :name \"move\") (run 2000) (print-size known)");
  EXPECT_EQ(ran.printed, "1001\n");
  const std::vector<RuleId> rules = *ran.program.rules_of("");
  ASSERT_EQ(rules.size(), 1u);
  EXPECT_LT(ran.program.egraph().report(rules[0]).joins, 10'000u);
}

constexpr const char* kExplosive =
    "(datatype E (Num i64) (Add E E)) (Add (Num 1) (Add (Num 2) (Add (Num 3) (Add (Num 4) (Num 5)))))"
    "(rule ((= x (Add a b)) (= y (Add c d))) ((Add x y)) :name \"explode\") (run 30)";

void expect_stopped(const Limits& limits, const char* what) {
  ProgramOptions options;
  options.run.limits = limits;
  RunProgram ran(kExplosive, options);
  ASSERT_EQ(ran.program.limits_hit().size(), 1u);
  EXPECT_TRUE(ran.program.limits_hit()[0].starts_with(what)) << ran.program.limits_hit()[0];
  EXPECT_NE(ran.program.limits_hit()[0].find("explode"), std::string::npos) << ran.program.limits_hit()[0];
  // What is left is sound and goes on working.
  ran.run("(check (Add (Num 4) (Num 5))) (union (Num 1) (Num 2)) (check (= (Num 1) (Num 2))) (extract (Num 2))");
  EXPECT_EQ(ran.printed, "(Num 1)\n");
  EXPECT_LT(ran.program.egraph().bytes(), size_t{1} << 30);
}

TEST(Limits, stop_a_rule_that_explodes) {
  expect_stopped({.rows = 50000}, "rows");
  expect_stopped({.bytes = 20 << 20}, "bytes");
  expect_stopped({.seconds = 0.05}, "seconds");
}

TEST(Limits, count_live_rows_only) {
  Limits limits;
  limits.rows = 20;
  ProgramOptions options;
  options.run.limits = limits;
  RunProgram ran(
      "(function f (i64) i64 :merge (max old new)) (set (f 0) 0)"
      "(rule ((= x (f 0))) ((set (f 0) (+ x 1)))) (run 100) (extract (f 0))",
      options);
  EXPECT_TRUE(ran.program.limits_hit().empty());
  EXPECT_EQ(ran.printed, "100\n");
}

TEST(BackOff, keeps_the_matches_of_a_banned_rule) {
  RunProgram ran("(relation p (i64)) (relation q (i64)) (p 1) (p 2) (p 3) (p 4) (p 5) (rule ((p x)) ((q x)))");
  const std::vector<RuleId> rules = *ran.program.rules_of("");
  const TableId q = *ran.program.find_table("q");
  BackOff back_off(4, 2);
  EGraph& graph = ran.program.egraph();
  EXPECT_TRUE(graph.run(rules, {}, &back_off)->changed);  // banned: there is more to come
  EXPECT_EQ(graph.row_count(q), 0u);
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(graph.run(rules, {}, &back_off).ok());
  EXPECT_EQ(graph.row_count(q), 5u);
  EXPECT_FALSE(graph.run(rules, {}, &back_off)->changed);
}

TEST(Compaction, leaves_no_trace) {
  // Every iteration replaces 1,500 rows, so most rows are dead soon; `new` counts what rules see as new.
  RunProgram ran(
      "(function f (i64) i64 :merge (max old new)) (relation new (i64 i64)) (ruleset grow) (ruleset look)"
      "(relation n (i64)) (n 0)"
      "(rule ((n x) (< x 1499)) ((n (+ x 1)))) (run 2000)"
      "(rule ((n x)) ((set (f x) 0)) :ruleset grow)"
      "(rule ((= y (f x)) (< y 5)) ((set (f x) (+ y 1))) :ruleset grow)"
      "(rule ((= y (f x)) (< x 3)) ((new x y)) :ruleset look)"
      "(run-schedule (repeat 10 (run grow) (run look)))"
      "(print-size f) (print-size new) (check (= (f 0) 5) (= (f 1499) 5))");
  EXPECT_EQ(ran.printed, "1500\n18\n");
  const TableId f = *ran.program.find_table("f");
  EXPECT_LT(ran.program.egraph().state().tables[f].rows(), 4000u);
}

TEST(Threads, change_nothing) {
  const char* text =
      "(datatype M (Num i64) (Add M M) (Mul M M)) (relation seen (M i64))"
      "(rewrite (Add a b) (Add b a)) (rewrite (Mul a b) (Mul b a))"
      "(rewrite (Add a (Add b c)) (Add (Add a b) c)) (rewrite (Mul a (Add b c)) (Add (Mul a b) (Mul a c)))"
      "(rule ((= m (Add (Num a) (Num b)))) ((union m (Num (+ a b))) (seen m (- a b))))"
      "(Mul (Add (Num 1) (Add (Num 2) (Num 3))) (Add (Num 4) (Add (Num 5) (Add (Num 6) (Num 7)))))"
      "(run 6)";
  std::vector<std::vector<Value>> expected;
  for (const int threads : {1, 2, 3}) {
    ProgramOptions options;
    options.run.threads = threads;
    options.run.parallel_from = 1;
    RunProgram ran(text, options);
    const std::vector<std::vector<Value>> rows = all_rows(ran.program.egraph());
    if (threads == 1) expected = rows;
    EXPECT_GT(rows.size(), 1000u);
    EXPECT_EQ(rows, expected) << threads << " threads";
  }
}

}  // namespace
}  // namespace lumen::egraph
