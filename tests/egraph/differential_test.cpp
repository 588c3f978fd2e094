// Random programs on the engine and on the naive one; the fuzz target egg_rules looks at many more.
#include <gtest/gtest.h>

#include <random>

#include "tests/support/random_rules.h"

namespace lumen::egraph {
namespace {

TEST(Differential, random_rules_give_the_same_as_naively) {
  for (uint64_t seed = 0; seed < 150; ++seed) {
    const auto draw_again = [&] {
      std::mt19937_64 random(seed);
      return naive::draw_rules([&](uint64_t n) { return random() % n; });
    };
    const auto failure = naive::check_rules(draw_again);
    ASSERT_FALSE(failure.has_value()) << "seed " << seed << ": " << *failure;
  }
}

}  // namespace
}  // namespace lumen::egraph
