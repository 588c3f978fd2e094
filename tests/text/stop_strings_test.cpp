#include "lumen/text/stop_strings.h"

#include <gtest/gtest.h>

namespace lumen {
namespace {

TEST(StopStrings, RefusesWhatCannotBeFound) {
  EXPECT_EQ(StopStrings::make({"a", ""}).diag().str(), "a stop string is empty");
  EXPECT_EQ(StopStrings::make({"\xff"}).diag().str(), "a stop string is not valid UTF-8");
}

TEST(StopStrings, HoldsBackWhatMayBeTheStart) {
  StopStrings stop = StopStrings::make({"</s>", "stop"}).value();
  EXPECT_EQ(stop.push("a <"), "a ");
  EXPECT_EQ(stop.push("/"), "");
  EXPECT_EQ(stop.push("b> st"), "</b> ");
  EXPECT_EQ(stop.push("o"), "");
  EXPECT_EQ(stop.push("re"), "store");
  EXPECT_FALSE(stop.stopped());
  EXPECT_EQ(stop.push("x</"), "x");
  EXPECT_EQ(stop.push("s>y"), "");
  EXPECT_TRUE(stop.stopped());
  EXPECT_EQ(stop.found(), "</s>");
  EXPECT_EQ(stop.push("more"), "");
  EXPECT_EQ(stop.finish(), "");
}

TEST(StopStrings, TheFirstInTheTextWins) {
  StopStrings stop = StopStrings::make({"b", "ab"}).value();
  EXPECT_EQ(stop.push("xab"), "x");
  EXPECT_EQ(stop.found(), "ab");
}

TEST(StopStrings, WhatIsHeldComesAtTheEnd) {
  StopStrings stop = StopStrings::make({"aab"}).value();
  EXPECT_EQ(stop.push("aaa"), "a");
  EXPECT_EQ(stop.finish(), "aa");
  StopStrings none = StopStrings::make({}).value();
  EXPECT_EQ(none.push("text"), "text");
}

TEST(StopStrings, EveryWayToCutGivesTheSame) {
  const std::string text = "abcabaabcabd";
  for (size_t a = 0; a <= text.size(); ++a) {
    for (size_t b = a; b <= text.size(); ++b) {
      StopStrings stop = StopStrings::make({"abd", "aabcabd"}).value();
      std::string shown = stop.push(text.substr(0, a));
      shown += stop.push(text.substr(a, b - a));
      shown += stop.push(text.substr(b));
      EXPECT_EQ(shown + stop.finish(), "abcab") << a << " " << b;
      EXPECT_TRUE(stop.stopped());
    }
  }
}

}  // namespace
}  // namespace lumen
