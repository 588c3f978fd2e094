#include "lumen/base/expected.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace lumen {
namespace {

Expected<int> parse_digit(char c) {
  if (c < '0' || c > '9') return error(std::string("'") + c + "' is not a digit");
  return c - '0';
}

Expected<int> add_digits(char a, char b) { return LUMEN_TRY(parse_digit(a)) + LUMEN_TRY(parse_digit(b)); }

// A LUMEN_TRY inside another must neither shadow (-Wshadow) nor lose its Diag.
Expected<int> next_digit(char a) {
  const auto next = [](int n) -> Expected<int> {
    if (n == 9) return error("9 is the last digit");
    return n + 1;
  };
  return LUMEN_TRY(next(LUMEN_TRY(parse_digit(a))));
}

Expected<> require_digit(char c) {
  LUMEN_TRY(parse_digit(c));
  return {};
}

TEST(Expected, TryHandsTheDiagUp) {
  EXPECT_EQ(add_digits('3', 'x').diag().message, "'x' is not a digit");
  EXPECT_EQ(next_digit('9').diag().message, "9 is the last digit");
  EXPECT_EQ(next_digit('?').diag().message, "'?' is not a digit");
  EXPECT_EQ(require_digit('!').diag().message, "'!' is not a digit");
}

TEST(Expected, TryGivesTheValue) {
  EXPECT_EQ(*add_digits('3', '4'), 7);
  EXPECT_EQ(*next_digit('1'), 2);
  EXPECT_TRUE(require_digit('1').ok());
}

TEST(Expected, ValueThrowsTheDiag) {
  const Expected<int> none = error("nothing here").note("asked by a test");
  EXPECT_FALSE(none);
  try {
    (void)none.value();
    FAIL() << "no exception";
  } catch (const Error& caught) {
    EXPECT_STREQ(caught.what(), "nothing here\n  note: asked by a test");
    EXPECT_EQ(caught.diag().notes.size(), 1u);
  }
}

TEST(Expected, HoldsMoveOnlyValues) {
  Expected<std::unique_ptr<int>> held = std::make_unique<int>(5);
  const std::unique_ptr<int> taken = std::move(held).value();
  EXPECT_EQ(*taken, 5);
}

TEST(Diag, StrShowsPlaceAndNotes) {
  EXPECT_EQ((Diag{"bad", {}, {}}.str()), "bad");
  EXPECT_EQ((Diag{"bad", {"a.hlir", 0, 0}, {}}.str()), "a.hlir: bad");
  EXPECT_EQ((Diag{"bad", {"a.hlir", 3, 9}, {"one", "two"}}.str()), "a.hlir:3:9: bad\n  note: one\n  note: two");
}

}  // namespace
}  // namespace lumen
