// What can happen to the file of a tuning database.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <set>
#include <thread>

#include "tests/search/rig.h"

namespace lumen::search::tests {
namespace {

using Files = Engines;
INSTANTIATE_TEST_SUITE_P(Both, Files, ::testing::Values("t.db", "t.jsonl"),
                         [](const auto& engine) { return engine.param == "t.db" ? "preferred" : "lines"; });

std::string failure(const std::string& path, OnDamage on_damage = OnDamage::move_aside) {
  const auto db = TuningDb::open(path, on_damage);
  return db.ok() ? "no error" : db.diag().str();
}

TuningEntry numbered(int writer, int k) {
  return {"cpu", "kernel of " + std::to_string(writer), "", std::to_string(k), 1e-3 * k, 0, 1, 7, ""};
}

// Puts random entries into a new file and gives its bytes.
std::string fill(const Folder& folder, const std::string& name, std::vector<TuningEntry>& entries) {
  std::mt19937_64 random(7);
  TuningDb db = *TuningDb::open(folder.file(name));
  for (int k = 0; k < 120; ++k) entries.push_back(random_entry(random));
  EXPECT_TRUE(db.put(entries).ok());
  entries = *db.list();
  { const TuningDb closed = std::move(db); }
  return folder.read(name);
}

TEST_P(Files, PlacesWhereNoneCanBe) {
  EXPECT_EQ(failure(folder_.path()), folder_.path() + ": a folder, not a tuning database");
  const std::string missing = folder_.file("no/" + GetParam());
  EXPECT_TRUE(failure(missing).starts_with(missing + ": cannot ")) << failure(missing);
  EXPECT_TRUE(failure(missing).ends_with(": No such file or directory")) << failure(missing);
}

TEST_P(Files, ANewerSchemaIsRefusedAndKept) {
  std::vector<TuningEntry> entries;
  std::string bytes = fill(folder_, GetParam(), entries);
  if (bytes.starts_with("SQLite")) {
    bytes[63] = 7;  // the user version
  } else {
    bytes.replace(bytes.find("\"version\":1"), 11, "\"version\":7");
  }
  folder_.write(GetParam(), bytes);
  EXPECT_EQ(failure(path()), path() +
                                 ": the tuning database has schema version 7, this program knows 1: use a newer "
                                 "lumen, or another file (--db FILE, LUMEN_CACHE=FOLDER)");
  EXPECT_EQ(folder_.read(GetParam()), bytes);
  EXPECT_EQ(folder_.count("damaged"), 0);
}

TEST(TuningFile, TheOtherKindIsRefusedAndKept) {
  const Folder folder;
  for (const char* name : {"a.db", "a.jsonl"}) ASSERT_TRUE(TuningDb::open(folder.file(name)).ok());
  const std::string lines = folder.read("a.jsonl"), preferred = folder.read("a.db");
  if (preferred == lines) GTEST_SKIP() << "a build without SQLite";
  folder.write("b.db", lines);
  folder.write("b.jsonl", preferred);
  EXPECT_EQ(failure(folder.file("b.db")),
            folder.file("b.db") + ": a tuning database of JSON lines: give it a name that ends in .jsonl");
  EXPECT_EQ(failure(folder.file("b.jsonl")), folder.file("b.jsonl") +
                                                 ": an SQLite database, not JSON lines: open it under a name without "
                                                 ".jsonl, in a build with SQLite");
  EXPECT_EQ(folder.read("b.db"), lines);
  EXPECT_EQ(folder.read("b.jsonl"), preferred);
}

TEST_P(Files, ADamagedFileIsRefusedWhenAsked) {
  folder_.write(GetParam(), "model weights\nand more");
  EXPECT_TRUE(failure(path(), OnDamage::refuse).starts_with(path() + ": not a tuning database, or a damaged one: "))
      << failure(path(), OnDamage::refuse);
  EXPECT_EQ(folder_.read(GetParam()), "model weights\nand more");
  EXPECT_EQ(folder_.count(""), 1);
}

TEST_P(Files, ADamagedFileIsMovedAsideWithOneLine) {
  folder_.write(GetParam(), "model weights\nand more");
  ::testing::internal::CaptureStderr();
  TuningDb db = *TuningDb::open(path());
  ASSERT_TRUE(db.put(numbered(0, 1)).ok());
  const std::string log = ::testing::internal::GetCapturedStderr();
  EXPECT_TRUE(log.starts_with("[lumen] tuning database " + path() + " was damaged (")) << log;
  EXPECT_EQ(std::count(log.begin(), log.end(), '\n'), 1) << log;
  EXPECT_EQ(folder_.read(GetParam() + ".damaged-1"), "model weights\nand more");
  EXPECT_EQ(db.list()->size(), 1U);
}

// Whatever bytes are wrong: nothing but what was put comes back, and the database works.
TEST_P(Files, AnyDamageIsSurvived) {
  std::vector<TuningEntry> entries;
  const std::string bytes = fill(folder_, GetParam(), entries);
  const std::string name = "x" + GetParam();
  std::mt19937_64 random(13);
  size_t saved = 0, moved = 0;
  for (int round = 0; round < 150; ++round) {
    std::string damaged = bytes;
    const bool cut = round % 3 == 0;
    if (cut) damaged.resize(random() % bytes.size());
    for (int k = 0; !cut && k < 1 + round % 7; ++k) {
      // Early bytes matter more: the header and the schema.
      const size_t at = random() % (k % 2 == 0 ? bytes.size() : std::min<size_t>(bytes.size(), 4096));
      if (at >= 60 && at < 72) continue;  // the numbers that say whose file it is
      damaged[at] = static_cast<char>(random());
    }
    for (const auto& file : std::filesystem::directory_iterator(folder_.path())) {
      if (file.path().filename().string().starts_with("x")) std::filesystem::remove(file.path());
    }
    folder_.write(name, damaged);
    ::testing::internal::CaptureStderr();
    Expected<TuningDb> db = TuningDb::open(folder_.file(name));
    const bool refused = !db.ok() && db.diag().message.find("schema version") != std::string::npos;
    if (!refused) {
      ASSERT_TRUE(db.ok()) << round << ": " << db.diag().str();
      const auto listed = db->list();
      ASSERT_TRUE(listed.ok()) << round << ": " << listed.diag().str();
      for (const TuningEntry& entry : *listed) {
        ASSERT_NE(std::find(entries.begin(), entries.end(), entry), entries.end()) << round;
      }
      saved += listed->size();
      const auto put = db->put(numbered(1, round));
      ASSERT_TRUE(put.ok()) << round << ": " << put.diag().str();
      const auto again = db->list();
      ASSERT_TRUE(again.ok()) << round << ": " << again.diag().str();
      EXPECT_NE(std::find(again->begin(), again->end(), numbered(1, round)), again->end()) << round;
    }
    ::testing::internal::GetCapturedStderr();
    moved += folder_.count("damaged-1") > 0 ? 1 : 0;
  }
  EXPECT_GT(saved, 0U);
  EXPECT_GT(moved, 20U);
}

TEST_P(Files, ProcessesWriteAtOnce) {
  constexpr int kWriters = 4, kEach = 60;
  std::vector<pid_t> children;
  for (int w = 0; w < kWriters; ++w) {
    children.push_back(in_child([&] {
      Expected<TuningDb> db = TuningDb::open(path());
      for (int k = 0; db.ok() && k < kEach; ++k) {
        const auto put = db->put(numbered(w, k));
        if (!put.ok()) return false;
      }
      return db.ok();
    }));
  }
  for (const pid_t child : children) EXPECT_EQ(wait_for(child), 0);
  const TuningDb db = *TuningDb::open(path());
  for (int w = 0; w < kWriters; ++w) {
    EXPECT_EQ(db.find({"cpu", "kernel of " + std::to_string(w), ""})->size(), static_cast<size_t>(kEach));
  }
  EXPECT_EQ(folder_.count("damaged"), 0);
}

// What a writer said it had put is there after it was killed, and at most one entry more.
TEST_P(Files, AWriterMayBeKilled) {
  std::mt19937_64 random(3);
  size_t total = 0;
  for (int round = 0; round < 25; ++round) {
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    const pid_t child = in_child([&] {
      Expected<TuningDb> db = TuningDb::open(path());
      for (int k = 0; db.ok(); ++k) {
        if (!db->put(numbered(round, k)).ok() || write(ends[1], "x", 1) != 1) return false;
      }
      return false;
    });
    close(ends[1]);
    std::this_thread::sleep_for(std::chrono::microseconds(500 + random() % 30000));
    kill(child, SIGKILL);
    EXPECT_TRUE(WIFSIGNALED(wait_for(child)));
    size_t said = 0;
    for (char byte; read(ends[0], &byte, 1) == 1;) ++said;
    close(ends[0]);
    const Expected<TuningDb> db = TuningDb::open(path());
    ASSERT_TRUE(db.ok()) << db.diag().str();
    const size_t there = db->find({"cpu", "kernel of " + std::to_string(round), ""})->size();
    EXPECT_GE(there, said);
    EXPECT_LE(there, said + 1);
    total += there;
    EXPECT_EQ(db->list()->size(), total);
  }
  EXPECT_GT(total, 25U);
  EXPECT_EQ(folder_.count("damaged"), 0);
}

TEST_P(Files, AnotherProcessMayMoveTheFile) {
  TuningDb db = *TuningDb::open(path());
  ASSERT_TRUE(db.put(numbered(0, 1)).ok());
  for (const char* part : {"", "-wal", "-shm"}) std::filesystem::remove(path() + part);
  ASSERT_TRUE(db.put(numbered(0, 2)).ok());
  EXPECT_EQ(TuningDb::open(path())->list()->size(), 1U);
}

TEST_P(Files, AFolderThatCannotBeWrittenIsRead) {
  std::vector<TuningEntry> entries;
  fill(folder_, GetParam(), entries);
  ASSERT_EQ(chmod(path().c_str(), 0444), 0);
  ASSERT_EQ(chmod(folder_.path().c_str(), 0555), 0);
  const pid_t child = in_child([&] {
    // Root may write everywhere, so it must be somebody else.
    if (geteuid() == 0 && setuid(65534) != 0) return false;
    Expected<TuningDb> db = TuningDb::open(path());
    const std::string got = !db.ok() ? db.diag().str() : !db->list().ok() ? db->list().diag().str() : "";
    EXPECT_EQ(got, "");
    if (!got.empty()) return false;
    EXPECT_EQ(*db->list(), entries);
    const auto put = db->put(numbered(0, 1));
    const std::string said = put.ok() ? "no error" : put.diag().str();
    EXPECT_TRUE(said.starts_with(path() + ": cannot write: ")) << said;
    const std::string other = failure(folder_.file("new" + GetParam()));
    EXPECT_TRUE(other.ends_with(": Permission denied")) << other;
    return !HasFailure();
  });
  EXPECT_EQ(wait_for(child), 0);
  chmod(folder_.path().c_str(), 0755);
}

}  // namespace
}  // namespace lumen::search::tests
