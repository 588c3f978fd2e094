#include "lumen/search/tuning_db.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <sstream>
#include <thread>

#include "tests/search/rig.h"

namespace lumen::search::tests {
namespace {

TuningEntry measured(std::string schedule, double seconds, int64_t date = 5) {
  return {"cpu", "matmul", "n=7", std::move(schedule), seconds, seconds / 8, 9, date, ""};
}
TuningEntry refused(std::string schedule, std::string why) {
  return {"cpu", "matmul", "n=7", std::move(schedule), 0, 0, 0, 5, std::move(why)};
}
const TuningKey kKey{"cpu", "matmul", "n=7"};

std::vector<std::string> schedules(const Expected<std::vector<TuningEntry>>& found) {
  std::vector<std::string> result;
  for (const TuningEntry& entry : *found) result.push_back(entry.schedule);
  return result;
}
using Names = std::vector<std::string>;

INSTANTIATE_TEST_SUITE_P(All, Engines, ::testing::Values("t.db", "t.jsonl", ":memory:"), [](const auto& engine) {
  return engine.param == "t.db" ? "preferred" : engine.param == "t.jsonl" ? "lines" : "memory";
});

TEST_P(Engines, BadEntriesAndFilesChangeNothing) {
  TuningDb db = *TuningDb::open(path());
  ASSERT_TRUE(db.put(measured("a", 1)).ok());
  const std::vector<TuningEntry> mixed = {measured("b", 1), measured("", 1)};
  EXPECT_EQ(db.put(mixed).diag().str(), "the schedule of a tuning entry is empty");
  std::istringstream bad("{\"format\":\"lumen-tuning\",\"version\":1,\n\"entries\":[{}]}");
  EXPECT_EQ(db.import_json(bad, OnConflict::replace, "x.json").diag().str(),
            "x.json:2:12: an entry without \"fingerprint\"");
  EXPECT_EQ(*db.list(), std::vector{measured("a", 1)});
}

TEST_P(Engines, FindsOneKernelFromFastToSlow) {
  TuningDb db = *TuningDb::open(path());
  const std::vector<TuningEntry> entries = {measured("slow", 3),  refused("bad", "does not compile"),
                                            measured("fast", 1),  measured("also", 2),
                                            measured("equal", 2), refused("worse", "NaN")};
  for (const TuningEntry& entry : entries) ASSERT_TRUE(db.put(entry).ok());
  TuningEntry other = measured("other", 0.5);
  for (std::string TuningEntry::*field : {&TuningEntry::fingerprint, &TuningEntry::kernel, &TuningEntry::shape}) {
    TuningEntry elsewhere = other;
    elsewhere.*field += "x";
    ASSERT_TRUE(db.put(elsewhere).ok());
  }
  EXPECT_EQ(schedules(db.find(kKey)), (Names{"fast", "also", "equal", "slow"}));
  EXPECT_EQ(schedules(db.rejected(kKey)), (Names{"bad", "worse"}));
  EXPECT_EQ(db.best(kKey)->value(), measured("fast", 1));
  EXPECT_EQ(db.best({"cpu", "conv", "n=7"})->has_value(), false);
  const TuningStats stats = *db.stats();
  EXPECT_EQ(stats.measured, 7);
  EXPECT_EQ(stats.rejected, 2);
  EXPECT_EQ(stats.kernels, 2);
  EXPECT_EQ(stats.fingerprints, 2);
}

TEST_P(Engines, ALaterPutReplaces) {
  TuningDb db = *TuningDb::open(path());
  ASSERT_TRUE(db.put(measured("a", 1, 9)).ok());
  ASSERT_TRUE(db.put(measured("a", 2, 3)).ok());
  EXPECT_EQ(*db.list(), std::vector{measured("a", 2, 3)});
  ASSERT_TRUE(db.put(refused("a", "wrong")).ok());
  EXPECT_EQ(*db.list(), std::vector{refused("a", "wrong")});
  EXPECT_TRUE(db.find(kKey)->empty());
}

TEST_P(Engines, ImportKeepsTheNewerOrReplaces) {
  TuningDb db = *TuningDb::open(path());
  const std::vector<TuningEntry> here = {measured("a", 1, 5), measured("b", 1, 5), measured("c", 1, 5)};
  ASSERT_TRUE(db.put(here).ok());
  TuningDb source = *TuningDb::open(":memory:");
  const std::vector<TuningEntry> there = {measured("a", 2, 4), measured("b", 2, 5), measured("c", 2, 6),
                                          measured("d", 2, 1)};
  ASSERT_TRUE(source.put(there).ok());
  std::stringstream text;
  ASSERT_TRUE(source.export_json(text).ok());
  EXPECT_EQ(*db.import_json(text, OnConflict::keep_newer), 2);
  EXPECT_EQ(schedules(db.find(kKey)), (Names{"a", "b", "c", "d"}));
  EXPECT_EQ(db.find(kKey)->at(1), measured("b", 1, 5));
  EXPECT_EQ(db.find(kKey)->at(2), measured("c", 2, 6));
  text.clear();
  text.seekg(0);
  EXPECT_EQ(*db.import_json(text, OnConflict::replace), 4);
  EXPECT_EQ(*db.list(), there);
}

TEST_P(Engines, ClearRemovesWhatTheFilterSays) {
  TuningDb db = *TuningDb::open(path());
  std::mt19937_64 random(31);
  for (int k = 0; k < 80; ++k) ASSERT_TRUE(db.put(random_entry(random)).ok());
  const TuningFilter filter{"cpu-1", "kernel 3"};
  std::vector<TuningEntry> rest = *db.list();
  const auto removed = std::erase_if(rest, [](const TuningEntry& e) {
    return e.fingerprint == "cpu-1" && e.kernel.find("kernel 3") != std::string::npos;
  });
  ASSERT_GT(removed, 0U);
  EXPECT_EQ(*db.clear(filter), static_cast<int64_t>(removed));
  EXPECT_EQ(*db.list(), rest);
  EXPECT_TRUE(db.list(filter)->empty());
  EXPECT_EQ(*db.clear({}), static_cast<int64_t>(rest.size()));
  EXPECT_TRUE(db.list()->empty());
}

TEST_P(Engines, WhatIsListedIsSortedAndDoesNotDependOnHistory) {
  std::mt19937_64 random(41);
  std::map<std::tuple<std::string, std::string, std::string, std::string>, TuningEntry> model;
  TuningDb db = *TuningDb::open(path()), other = *TuningDb::open(":memory:");
  for (int k = 0; k < 300; ++k) {
    TuningEntry entry = random_entry(random);
    if (k % 3 == 2) entry.kernel = model.begin()->second.kernel;
    model[{entry.fingerprint, entry.kernel, entry.shape, entry.schedule}] = entry;
    ASSERT_TRUE(db.put(entry).ok());
  }
  std::vector<TuningEntry> expected;
  for (const auto& [key, entry] : model) expected.push_back(entry);
  std::shuffle(expected.begin(), expected.end(), random);
  ASSERT_TRUE(other.put(expected).ok());
  std::sort(expected.begin(), expected.end(), listed_before);
  EXPECT_EQ(*db.list(), expected);
  std::ostringstream a, b;
  ASSERT_TRUE(db.export_json(a).ok());
  ASSERT_TRUE(other.export_json(b).ok());
  EXPECT_EQ(a.str(), b.str());
  if (path() == ":memory:") return;
  EXPECT_EQ(*TuningDb::open(path())->list(), expected);
}

TEST_P(Engines, ThreadsShareOne) {
  TuningDb db = *TuningDb::open(path());
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&db, t] {
      for (int k = 0; k < 25; ++k) {
        EXPECT_TRUE(db.put(measured("s" + std::to_string(t) + "." + std::to_string(k), 1 + k)).ok());
        EXPECT_TRUE(db.best(kKey)->has_value());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(db.find(kKey)->size(), 100U);
}

}  // namespace
}  // namespace lumen::search::tests
