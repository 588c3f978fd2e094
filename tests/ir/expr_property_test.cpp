// Over random expressions and environments: normalising preserves the value, is idempotent, bounds and proofs are
// true, and text reads back to the same object.
#include <gtest/gtest.h>

#include <random>

#include "tests/support/naive_expr.h"

namespace lumen {
namespace {

constexpr int kEnvironments = 8;

void run(uint64_t seed, int expressions, int depth) {
  std::mt19937_64 random(seed);
  const naive::Draw draw = [&](uint64_t n) { return random() % n; };
  for (int k = 0; k < expressions; ++k) {
    const auto tree = naive::draw_tree(draw, depth);
    const Expr e = naive::build(*tree);
    if (const auto failure = naive::check_normal(*tree, e)) FAIL() << "seed " << seed << ": " << *failure;
    for (int j = 0; j < kEnvironments; ++j) {
      const naive::Environment env = naive::draw_environment(draw);
      if (const auto failure = naive::check(*tree, e, env)) FAIL() << "seed " << seed << ": " << *failure;
    }
  }
}

// 128,000 expressions in 8 environments each: 1,024,000 cases.
TEST(ExprProperty, small) { run(1, 100'000, 3); }
TEST(ExprProperty, medium) { run(2, 25'000, 4); }
TEST(ExprProperty, large) { run(3, 3'000, 6); }

}  // namespace
}  // namespace lumen
