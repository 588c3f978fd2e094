// Which new terms belong to a class from the start, and that nothing comes out differently for it.
#include "lumen/egraph/core/head.h"

#include <gtest/gtest.h>

#include "lumen/egraph/lang/program.h"

namespace lumen::egraph {
namespace {

using Kind = Action::Kind;

Action action(Kind kind, std::vector<uint32_t> args, uint32_t result = 0) {
  Action made;
  made.kind = kind;
  for (const uint32_t arg : args) made.args.push_back(Slot::variable(arg));
  made.result = Slot::variable(result);
  return made;
}

// The register that each step's new term joins; variables 0 and 1 are matched.
std::vector<uint32_t> joins(const std::vector<Action>& actions) {
  std::vector<uint32_t> found;
  for (const Head::Step& step : Head(2, 6, actions).steps) found.push_back(step.joins);
  return found;
}

TEST(Head, a_new_term_joins_the_class_it_is_united_with) {
  const Action make = action(Kind::make, {1}, 2);
  const Action outer = action(Kind::make, {2}, 3);
  EXPECT_EQ(joins({make, action(Kind::unite, {0, 2})}), (std::vector<uint32_t>{0, kNone}));
  EXPECT_EQ(joins({make, action(Kind::unite, {2, 0})}), (std::vector<uint32_t>{0, kNone}));
  EXPECT_EQ(joins({make, outer, action(Kind::unite, {0, 3})}), (std::vector<uint32_t>{kNone, 0, kNone}));
  EXPECT_EQ(joins({make, outer, action(Kind::unite, {0, 2})}), (std::vector<uint32_t>{0, kNone, kNone}));
  EXPECT_EQ(joins({make, outer, action(Kind::unite, {2, 3})}), (std::vector<uint32_t>{kNone, 2, kNone}));
}

TEST(Head, a_new_term_keeps_an_id_of_its_own_where_that_may_be_seen) {
  const Action make = action(Kind::make, {1}, 2);
  const Action unite = action(Kind::unite, {0, 2});
  const std::vector<uint32_t> none(3, kNone);
  EXPECT_EQ(joins({make, action(Kind::call, {0}, 3), unite}), none);  // which may fail
  EXPECT_EQ(joins({make, unite, action(Kind::call, {2, 0}, 3)}), none);
  EXPECT_EQ(joins({make, unite, action(Kind::erase, {2})}), none);
  EXPECT_EQ(joins({make, action(Kind::make, {0}, 3), action(Kind::unite, {0, 1})}), none);
  // What it would join is made after it.
  EXPECT_EQ(joins({make, action(Kind::call, {0}, 3), action(Kind::unite, {2, 3})}), none);
}

std::string printed_by(std::string_view text) {
  std::string printed;
  Program program({}, [&](std::string_view s) { printed += s; });
  const Expected<void> result = program.run_text(text, "test.egg");
  EXPECT_TRUE(result.ok()) << result.diag().str();
  return printed;
}

constexpr std::string_view kTerms = "(datatype T (A i64) (F T) (G T T)) (relation r (T T))";

// Two classes get the same new term in one iteration: they are one class then.
TEST(Head, classes_that_are_given_one_term_are_merged) {
  printed_by(std::string(kTerms) + R"(
    (rewrite (F x) (A 7))
    (F (A 1)) (F (A 2)) (F (A 3))
    (run 1)
    (check (= (F (A 1)) (F (A 2))) (= (F (A 2)) (F (A 3))) (= (F (A 1)) (A 7)))
    (fail (check (= (A 1) (A 2)))))");
}

// A class is merged with an older one after a new term has joined it.
TEST(Head, a_joined_class_may_be_displaced_in_the_same_iteration) {
  const std::string printed = printed_by(std::string(kTerms) + R"(
    (rule ((= c (G x y))) ((union c (F (F x)))))
    (rule ((= c (G x y)) (= d (F z))) ((union c d)))
    (F (A 9)) (G (A 1) (A 2)) (G (A 1) (A 3))
    (run 1)
    (check (= (G (A 1) (A 2)) (F (F (A 1)))) (= (F (A 9)) (F (F (A 1)))) (= (G (A 1) (A 3)) (F (A 9))))
    (run 3)
    (print-size F))");
  EXPECT_EQ(printed, "3\n");
}

// Matches that wait under back-off name classes that have been merged in the meantime.
TEST(Head, a_match_that_waited_joins_what_its_class_has_become) {
  printed_by(std::string(kTerms) + R"(
    (ruleset swap) (ruleset merge)
    (rule ((= c (G x y))) ((union c (F y))) :ruleset swap)
    (rule ((= c (G x y)) (= d (G y x))) ((union c d)) :ruleset merge)
    (G (A 1) (A 2)) (G (A 2) (A 1)) (G (A 3) (A 4)) (G (A 4) (A 3))
    (run-schedule (let-scheduler slow (back-off :match-limit 2 :ban-length 1))
                  (run-with slow swap) (run merge) (repeat 4 (run-with slow swap)))
    (check (= (F (A 1)) (F (A 2))) (= (F (A 3)) (F (A 4))) (= (F (A 1)) (G (A 1) (A 2))))
    (fail (check (= (F (A 1)) (F (A 3))))))");
}

}  // namespace
}  // namespace lumen::egraph
