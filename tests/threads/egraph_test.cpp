// Rules that several threads match and apply give the same rows as with one thread.
#include <gtest/gtest.h>

#include "lumen/egraph/lang/program.h"

namespace lumen::egraph {
namespace {

// Large enough for every part that is shared between threads: matching, making terms, rebuilding, indexes.
constexpr const char* kProgram =
    "(datatype M (Num i64) (F M) (P M M)) (relation n (i64)) (relation minus (i64)) (relation next (i64 i64)) (n 1)"
    "(ruleset grow) (ruleset terms) (ruleset fold) (ruleset swap)"
    "(rule ((n x) (< x 8192)) ((n (* x 2)) (n (+ (* x 2) 1))) :ruleset grow)"
    "(rule ((n x)) ((let m (Num x)) (F (F m)) (P m (F m))) :ruleset terms)"
    "(rule ((n x) (= y (- 0 x))) ((minus y)) :ruleset terms)"
    "(rule ((n x) (n y) (= y (+ x 1))) ((next x y)) :ruleset terms)"
    "(rule ((= m (Num x)) (>= x 1000)) ((union m (Num (% x 1000)))) :ruleset fold)"
    "(rewrite (P a b) (P b a) :ruleset swap)"
    "(rule ((= p (P a b)) (= q (P b a))) ((union (F p) (F q))) :ruleset swap)"
    "(run-schedule (saturate (run grow)) (run terms) (run fold) (run swap) (run swap))";

std::vector<std::vector<Value>> rows_with(int threads) {
  ProgramOptions options;
  options.run.threads = threads;
  options.run.parallel_from = 64;
  Program program(options);
  const Expected<void> result = program.run_text(kProgram, "test.egg");
  EXPECT_TRUE(result.ok()) << result.diag().str();
  std::vector<std::vector<Value>> rows;
  EGraph& graph = program.egraph();
  for (TableId t = 0; t < graph.table_count(); ++t) {
    graph.for_each_row(
        t, [&](std::span<const Value> columns, bool) { rows.emplace_back(columns.begin(), columns.end()); });
  }
  return rows;
}

TEST(Threads, run_rules_to_the_same_rows) {
  const std::vector<std::vector<Value>> expected = rows_with(1);
  EXPECT_GT(expected.size(), 40000u);
  for (const int threads : {2, 4}) EXPECT_TRUE(rows_with(threads) == expected) << threads << " threads";
}

}  // namespace
}  // namespace lumen::egraph
