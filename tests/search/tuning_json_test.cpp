#include "lumen/search/tuning_json.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/search/rig.h"

namespace lumen::search::tests {
namespace {

std::string json_failure(const std::string& text) {
  const auto parsed = parse_document(text, "a.json");
  return parsed.ok() ? "no error" : parsed.diag().str();
}

std::string with_entry(const std::string& entry) {
  return "{\"format\":\"lumen-tuning\",\"version\":1,\"entries\":[\n  " + entry + "]}";
}

const std::string kGood =
    R"("fingerprint":"f","kernel":"k","shape":"","schedule":"s","date":"2026-11-15T10:20:59Z","trials":3)";

TEST(TuningJson, WhatIsNotJsonHasAPlace) {
  EXPECT_EQ(json_failure(""),
            "a.json:1:1: not JSON: syntax error while parsing value - unexpected end of input; expected "
            "'[', '{', or a literal");
  EXPECT_TRUE(json_failure("{\n  \"format\": nope}").starts_with("a.json:2:14: not JSON: syntax error"))
      << json_failure("{\n  \"format\": nope}");
  EXPECT_TRUE(json_failure(with_entry("{\"seconds\":1e999}")).starts_with("a.json:2:18: not JSON: number overflow"))
      << json_failure(with_entry("{\"seconds\":1e999}"));
  EXPECT_TRUE(json_failure(with_entry("{" + kGood + R"(,"seconds":1,"spread":0})") + " x").starts_with("a.json:2:"));
}

TEST(TuningJson, WrongDocuments) {
  EXPECT_EQ(json_failure(" 3"), "a.json:1:2: a tuning file must be an object, not 3");
  EXPECT_EQ(json_failure("[]"), "a.json:1:1: a tuning file must be an object, not an array");
  EXPECT_EQ(json_failure("{}"), "a.json:1:1: a tuning file without \"entries\"");
  EXPECT_EQ(json_failure("{\"entries\":[]}"), "a.json:1:2: \"format\" and \"version\" must come before \"entries\"");
  EXPECT_EQ(json_failure("{\"format\" : \"x\"}"), "a.json:1:13: \"format\" must be \"lumen-tuning\", not \"x\"");
  EXPECT_EQ(json_failure("{\"format\":[]}"), "a.json:1:11: \"format\" must be \"lumen-tuning\", not an array");
  EXPECT_EQ(json_failure("{\"version\":2,\n"), "a.json:1:12: \"version\" must be 1, not 2");
  EXPECT_EQ(json_failure("{\"version\":1,\n\"version\":1}"), "a.json:2:1: \"version\" occurs twice");
  EXPECT_EQ(json_failure("{\"more\":1}"),
            "a.json:1:2: a tuning file has \"format\", \"version\" and \"entries\", not \"more\"");
  EXPECT_EQ(json_failure(with_entry("7")), "a.json:2:3: an entry must be an object, not 7");
  EXPECT_EQ(json_failure("{\"format\":\"lumen-tuning\",\"version\":1,\"entries\":{}}"),
            "a.json:1:48: \"entries\" must be an array, not an object");
}

TEST(TuningJson, WrongEntries) {
  const auto with = [](const std::string& more) { return json_failure(with_entry("{" + kGood + ",\n" + more + "}")); };
  EXPECT_EQ(with("\"secnds\":1"), "a.json:3:1: an entry has no field \"secnds\"; did you mean \"seconds\"?");
  EXPECT_EQ(with("\"check\":\"1\""), "a.json:3:1: an entry has no field \"check\"");
  EXPECT_EQ(with("\"shape\":\"\""), "a.json:3:1: \"shape\" occurs twice in one entry");
  EXPECT_EQ(with("\"seconds\": -1"), "a.json:3:12: \"seconds\" must be a number of seconds, 0 or more, not -1");
  EXPECT_EQ(with("\"seconds\": \"1\""), "a.json:3:12: \"seconds\" must be a number of seconds, 0 or more, not \"1\"");
  EXPECT_EQ(with("\"seconds\": {}"), "a.json:3:12: \"seconds\" must be a number of seconds, 0 or more, not an object");
  EXPECT_EQ(with("\"rejected\": null"), "a.json:3:13: \"rejected\" must be a string, not null");
  EXPECT_EQ(with("\"rejected\": \"\""), "a.json:3:13: \"rejected\" must be a reason, not \"\"");
  EXPECT_EQ(with("\"rejected\": \"x\""), "a.json:2:3: an entry has \"rejected\" and \"trials\"");
  EXPECT_EQ(with("\"seconds\": 1"), "a.json:2:3: an entry without \"spread\"");
  EXPECT_EQ(json_failure(with_entry("{}")), "a.json:2:3: an entry without \"fingerprint\"");
  EXPECT_EQ(json_failure(with_entry("{\"trials\":0}")), "a.json:2:13: \"trials\" must be an integer, 1 or more, not 0");
  EXPECT_EQ(json_failure(with_entry("{\"trials\":2.5}")),
            "a.json:2:13: \"trials\" must be an integer, 1 or more, not 2.5");
  EXPECT_EQ(json_failure(with_entry("{\"fingerprint\":\"\",\"kernel\":\"k\",\"shape\":\"\",\"schedule\":\"s\",\"date\":"
                                    "\"2026-11-15T10:20:59Z\",\"rejected\":\"x\"}")),
            "a.json:2:3: the fingerprint of a tuning entry is empty");
  for (const char* bad : {"", "2026-11-15", "2026-02-29T00:00:00Z", "2026-01-01T24:00:00Z", "1969-12-31T23:59:59Z"}) {
    EXPECT_EQ(json_failure(with_entry("{\"date\":\"" + std::string(bad) + "\"}")),
              "a.json:2:11: \"date\" must be a date like \"2026-11-15T10:20:59Z\", not \"" + std::string(bad) + "\"");
  }
}

TEST(TuningJson, DatesAreThoseOfTheCalendar) {
  EXPECT_EQ(date_text(0), "1970-01-01T00:00:00Z");
  EXPECT_EQ(date_text(951782399), "2000-02-28T23:59:59Z");  // date -u -d @951782399
  EXPECT_EQ(date_text(951782400), "2000-02-29T00:00:00Z");
  EXPECT_EQ(date_text(253402300799), "9999-12-31T23:59:59Z");
}

TEST(TuningJson, EntriesSurviveTheRoundTrip) {
  std::mt19937_64 random(17);
  std::vector<TuningEntry> entries;
  for (int k = 0; k < 200; ++k) entries.push_back(random_entry(random));
  const std::string text = print_document(entries);
  const auto again = parse_document(text, "a.json");
  ASSERT_TRUE(again.ok()) << again.diag().str();
  EXPECT_EQ(*again, entries);
  EXPECT_EQ(print_document(*again), text);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 202);
}

TEST(TuningJson, ALineWithAnyOtherByteIsRefused) {
  std::mt19937_64 random(23);
  for (int k = 0; k < 20; ++k) {
    const TuningEntry entry = random_entry(random);
    const std::string line = print_line(entry);
    ASSERT_EQ(*parse_line(line), entry);
    for (size_t at = 0; at < line.size(); ++at) {
      std::string damaged = line;
      damaged[at] = static_cast<char>(damaged[at] ^ (1 << random() % 8));
      const auto parsed = parse_line(damaged);
      // A space for another blank, or an escape in another case, is the same JSON.
      EXPECT_TRUE(!parsed.ok() || *parsed == entry) << damaged;
      EXPECT_FALSE(parse_line(line.substr(0, at)).ok()) << at;
    }
  }
}

TEST(TuningEntry, WhatCannotBeKeptIsRefused) {
  const TuningEntry good{"f", "k", "", "s", 1, 0, 1, 0, ""};
  EXPECT_TRUE(check_entry(good).ok());
  const auto with = [&](auto change) {
    TuningEntry entry = good;
    change(entry);
    const auto checked = check_entry(entry);
    return checked.ok() ? "no error" : checked.diag().str();
  };
  EXPECT_EQ(with([](auto& e) { e.kernel = ""; }), "the kernel of a tuning entry is empty");
  EXPECT_EQ(with([](auto& e) { e.schedule = "a\xff"; }),
            "the schedule of a tuning entry is not UTF-8: byte 0xff at offset 1");
  for (const char* bad :
       {"\xc0\x80", "\xe0\x80\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xc3", "\xf0\x9f\x98", "\x80"}) {
    EXPECT_NE(with([&](auto& e) { e.shape = bad; }), "no error") << bad;
  }
  for (const char* fine : {"é", "\u07ff", "\u0800", "\ud7ff", "\ue000", "😀", "\U0010ffff"}) {
    EXPECT_EQ(with([&](auto& e) { e.shape = fine; }), "no error") << fine;
  }
  EXPECT_EQ(with([](auto& e) { e.seconds = NAN; }), "seconds = nan of a tuning entry is not a time");
  EXPECT_EQ(with([](auto& e) { e.spread = -1; }), "spread = -1 of a tuning entry is not a time");
  EXPECT_EQ(with([](auto& e) { e.trials = 0; }), "trials = 0 of a measured tuning entry is not 1 or more");
  EXPECT_EQ(with([](auto& e) { e.date = -1; }), "date = -1 of a tuning entry is not in the years 1970 to 9999");
  EXPECT_EQ(with([](auto& e) { e.rejected = "x"; }),
            "a rejected tuning entry has times: seconds = 1, spread = 0, trials = 1");
}

TEST(TuningEntry, KernelHashesNeverChange) {
  EXPECT_EQ(kernel_hash("").size(), 32U);
  EXPECT_NE(kernel_hash("a").substr(0, 16), kernel_hash("b").substr(0, 16));
  EXPECT_NE(kernel_hash("a").substr(16), kernel_hash("b").substr(16));
  EXPECT_EQ(kernel_hash("matmul"), "e337e45cf45c0af40cc59e581ddfb1c9");
}

}  // namespace
}  // namespace lumen::search::tests
