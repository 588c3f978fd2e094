#include "lumen/base/check.h"

#include <gtest/gtest.h>

#include <string>

namespace {

TEST(CheckDeathTest, PrintsPlaceConditionAndMessage) {
  const int n = 3;
  EXPECT_DEATH(CHECK(n == 4), R"(check_test\.cpp:[0-9]+: CHECK\(n == 4\) failed
)");
  EXPECT_DEATH(CHECK(n < 0, "n is negative"), R"(check_test\.cpp:[0-9]+: CHECK\(n < 0\) failed: n is negative
)");
  EXPECT_DEATH(CHECK(n < 0, "n is " + std::to_string(n)), "failed: n is 3\n");
}

TEST(Check, EvaluatesTheMessageOnlyOnFailure) {
  int made = 0;
  const auto message = [&] {
    ++made;
    return std::string("never shown");
  };
  CHECK(made == 0, message());
  EXPECT_EQ(made, 0);
}

TEST(Check, IsOneStatement) {
  if (false)
    CHECK(false);
  else
    CHECK(true);
}

}  // namespace
