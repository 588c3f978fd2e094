#include "lumen/backend/cpu/object_cache.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <random>
#include <thread>

#include "tests/support/scratch_dir.h"

namespace lumen::cpu {

using lumen::tests::ScratchDir;
namespace {

namespace fs = std::filesystem;

constexpr size_t kTrailer = 40;
constexpr int64_t kLarge = int64_t{1} << 30;

std::string bytes_in(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::string random_bytes(std::mt19937_64& random, size_t count) {
  std::string bytes(count, '\0');
  for (char& byte : bytes) byte = static_cast<char>(random());
  return bytes;
}

// The object that the cache finds, without its trailer; "absent" when it finds none.
std::string found(ObjectCache& cache, const CacheKey& key) {
  const auto path = cache.find(key);
  if (!path) return "absent";
  const std::string file = bytes_in(*path);
  return file.substr(0, file.size() - kTrailer);
}

ptrdiff_t file_count(const std::string& folder) {
  return std::distance(fs::directory_iterator(folder), fs::directory_iterator());
}

// Runs `work` in a child; its exit status, or minus the signal that ended it.
int in_child(const std::function<int()>& work) {
  const pid_t pid = fork();
  if (pid == 0) _exit(work());
  int status = 0;
  waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

TEST(ObjectCache, a_damaged_byte_anywhere_is_seen) {
  std::mt19937_64 random(std::random_device{}());
  const ScratchDir dir;
  ObjectCache cache(dir.path(), kLarge);
  const CacheKey key = CacheKey::of("key");
  const std::string object = random_bytes(random, 331);
  const std::string path = cache.store(key, object).value();
  const std::string whole = bytes_in(path);
  ASSERT_EQ(whole.size(), object.size() + kTrailer);
  for (size_t position = 0; position < whole.size(); ++position) {
    std::string bad = whole;
    bad[position] = static_cast<char>(bad[position] ^ (1 << (random() % 8)));
    std::ofstream(path, std::ios::binary) << bad;
    ASSERT_EQ(found(cache, key), "absent") << "byte " << position;
    ASSERT_FALSE(fs::exists(path)) << "byte " << position;
  }
  ASSERT_TRUE(cache.store(key, object).has_value());
  EXPECT_EQ(found(cache, key), object);
}

TEST(ObjectCache, a_file_of_any_other_length_is_seen) {
  std::mt19937_64 random(std::random_device{}());
  const ScratchDir dir;
  ObjectCache cache(dir.path(), kLarge);
  const CacheKey key = CacheKey::of("key");
  const std::string path = cache.store(key, random_bytes(random, 97)).value();
  const std::string whole = bytes_in(path);
  for (size_t length = 0; length < whole.size() + 9; ++length) {
    std::string other = whole.substr(0, length) + std::string(length > whole.size() ? length - whole.size() : 0, '\0');
    std::ofstream(path, std::ios::binary) << other;
    ASSERT_EQ(cache.find(key).has_value(), length == whole.size()) << length;
  }
  // An entry under the wrong name is damaged, too.
  ASSERT_TRUE(cache.store(key, "first").has_value());
  const std::string second = cache.store(CacheKey::of("other"), "second").value();
  fs::rename(second, path);
  EXPECT_EQ(found(cache, key), "absent");
}

TEST(ObjectCache, does_not_follow_links_or_trust_strangers) {
  const ScratchDir dir;
  ObjectCache cache(dir.path(), kLarge);
  const CacheKey key = CacheKey::of("key");
  const std::string path = cache.store(key, "object").value();
  fs::rename(path, dir / "elsewhere");
  fs::create_symlink(dir / "elsewhere", path);
  EXPECT_EQ(found(cache, key), "absent");
  fs::remove(path);
  fs::create_directory(path);
  EXPECT_EQ(found(cache, key), "absent");
  if (geteuid() != 0) GTEST_SKIP() << "only root can give a file away";
  fs::remove(path);
  ASSERT_TRUE(cache.store(key, "object").has_value());
  ASSERT_EQ(chown(path.c_str(), 65534, 65534), 0);
  EXPECT_EQ(found(cache, key), "absent");
}

TEST(ObjectCache, keys_are_of_the_whole_content) {
  EXPECT_EQ(CacheKey::of("abc").hex().size(), 32u);
  EXPECT_EQ(CacheKey::of("abc").hex(), CacheKey::of("abc").hex());
  for (const char* other : {"", "ab", "abd", "bbc", "abc "}) {
    EXPECT_NE(CacheKey::of("abc").words[0], CacheKey::of(other).words[0]);
    EXPECT_NE(CacheKey::of("abc").words[1], CacheKey::of(other).words[1]);
  }
  EXPECT_NE(CacheKey::of("abc").words[0], CacheKey::of("abc").words[1]);
}

TEST(ObjectCache, without_a_folder_nothing_is_kept) {
  ObjectCache cache("", kLarge);
  EXPECT_FALSE(cache.store(CacheKey::of("k"), "object").has_value());
  EXPECT_FALSE(cache.find(CacheKey::of("k")).has_value());
  cache.drop(CacheKey::of("k"));
}

// What `work` writes to stderr.
std::string log_of(const std::function<void()>& work) {
  ::testing::internal::CaptureStderr();
  work();
  return ::testing::internal::GetCapturedStderr();
}

TEST(ObjectCache, a_folder_that_cannot_be_is_said_once) {
  const ScratchDir dir;
  std::ofstream(dir / "file") << "in the way";
  ObjectCache cache(dir / "file/below", kLarge);
  const std::string log = log_of([&] {
    for (int k = 0; k < 3; ++k) EXPECT_FALSE(cache.store(CacheKey::of("k"), "object").has_value());
  });
  EXPECT_EQ(log, "[lumen] compiled kernels are not kept: cannot make " + (dir / "file/below") + ": Not a directory\n");
  EXPECT_FALSE(cache.find(CacheKey::of("k")).has_value());
}

TEST(ObjectCache, a_read_only_folder_is_still_read) {
  const ScratchDir dir;
  const CacheKey key = CacheKey::of("kept");
  ASSERT_TRUE(ObjectCache(dir.path(), kLarge).store(key, "object").has_value());
  chmod(dir.path().c_str(), 0555);
  chmod((dir / (key.hex() + ".so")).c_str(), 0444);
  const int status = in_child([&] {
    // Root may write anywhere, so the child stops being root.
    if (geteuid() == 0 && setuid(65534) != 0) return 1;
    ObjectCache cache(dir.path(), kLarge);
    if (found(cache, key) != "object") return 2;
    ::testing::internal::CaptureStderr();
    const bool kept = cache.store(CacheKey::of("new"), "x").has_value() || cache.store(CacheKey::of("two"), "x");
    const std::string log = ::testing::internal::GetCapturedStderr();
    const std::string expected =
        "[lumen] compiled kernels are not kept: cannot write in " + dir.path() + ": Permission denied\n";
    return kept ? 3 : log != expected ? 4 : found(cache, key) == "object" ? 0 : 5;
  });
  chmod(dir.path().c_str(), 0755);
  EXPECT_EQ(status, 0);
}

// A limit on the size of files stands in for a full disk: the write stops in the middle.
TEST(ObjectCache, a_full_disk_leaves_nothing_half_written) {
  const ScratchDir dir;
  const CacheKey small = CacheKey::of("small"), large = CacheKey::of("large");
  const int status = in_child([&] {
    signal(SIGXFSZ, SIG_IGN);
    ObjectCache cache(dir.path(), kLarge);
    if (!cache.store(small, "small")) return 1;
    ::testing::internal::CaptureStderr();
    const rlimit limit{5000, 5000};
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0) return 2;
    const bool kept = cache.store(large, std::string(100000, 'x')).has_value() || cache.store(large, "x").has_value();
    const std::string log = ::testing::internal::GetCapturedStderr();
    if (log != "[lumen] compiled kernels are not kept: cannot write in " + dir.path() + ": File too large\n") return 3;
    return kept ? 4 : found(cache, small) == "small" ? 0 : 5;
  });
  EXPECT_EQ(status, 0);
  EXPECT_EQ(file_count(dir.path()), 1);
}

TEST(ObjectCache, processes_that_race_see_whole_entries_only) {
  const ScratchDir dir;
  constexpr int kProcesses = 4;
  std::vector<pid_t> children;
  for (int p = 0; p < kProcesses; ++p) {
    const pid_t pid = fork();
    if (pid == 0) {
      // All write the same keys, with the same content per key, and a cap that makes them evict each other's.
      std::mt19937_64 random(static_cast<uint64_t>(p));
      ObjectCache cache(dir.path(), 200000);
      for (int k = 0; k < 150; ++k) {
        const uint64_t which = random() % 9;
        const CacheKey key = CacheKey::of(std::to_string(which));
        const std::string object(4000 * (which + 1), static_cast<char>('a' + which));
        if (!cache.store(key, object)) _exit(1);
        const auto path = cache.find(key);
        const std::string file = path ? bytes_in(*path) : "";
        if (!file.empty() && file.substr(0, file.size() - kTrailer) != object) _exit(2);
      }
      _exit(0);
    }
    children.push_back(pid);
  }
  for (const pid_t pid : children) {
    int status = 0;
    waitpid(pid, &status, 0);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  }
  for (const auto& entry : fs::directory_iterator(dir.path())) EXPECT_EQ(entry.path().extension(), ".so");
}

TEST(ObjectCache, survives_kill_at_any_moment) {
  std::mt19937_64 random(std::random_device{}());
  const ScratchDir dir;
  const auto object_of = [](int k) {
    return std::string(static_cast<size_t>(300000 + k), static_cast<char>('a' + k % 26));
  };
  for (int round = 0; round < 25; ++round) {
    const pid_t pid = fork();
    if (pid == 0) {
      ObjectCache cache(dir.path(), kLarge);
      for (int k = 0;; k = (k + 1) % 20) cache.store(CacheKey::of(std::to_string(k)), object_of(k));
    }
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 8000));
    kill(pid, SIGKILL);
    waitpid(pid, nullptr, 0);
    ObjectCache cache(dir.path(), kLarge);
    for (int k = 0; k < 20; ++k) {
      const std::string object = found(cache, CacheKey::of(std::to_string(k)));
      ASSERT_TRUE(object == "absent" || object == object_of(k)) << "round " << round << ", entry " << k;
    }
  }
  ASSERT_GT(file_count(dir.path()), 0);
  // What the killed left behind goes when it is old.
  const auto old = fs::file_time_type::clock::now() - std::chrono::hours(2);
  std::ofstream(dir / "tmp-abcdef") << "half";
  for (const auto& entry : fs::directory_iterator(dir.path())) {
    if (entry.path().filename().string().starts_with("tmp-")) fs::last_write_time(entry.path(), old);
  }
  std::ofstream(dir / "tmp-young1") << "being written";
  ObjectCache cache(dir.path(), kLarge);
  ASSERT_TRUE(cache.store(CacheKey::of("last"), "x").has_value());
  for (const auto& entry : fs::directory_iterator(dir.path())) {
    EXPECT_TRUE(entry.path().extension() == ".so" || entry.path().filename() == "tmp-young1") << entry.path();
  }
}

TEST(ObjectCache, what_was_not_used_for_longest_goes_first) {
  const ScratchDir dir;
  const std::string object(1000 - kTrailer, 'x');  // an entry is 1000 bytes
  const auto key = [](int k) { return CacheKey::of("entry " + std::to_string(k)); };
  ObjectCache cache(dir.path(), 10000);
  for (int k = 0; k < 10; ++k) {
    const auto path = cache.store(key(k), object);
    ASSERT_TRUE(path.has_value());
    fs::last_write_time(*path, fs::file_time_type::clock::now() - std::chrono::seconds(100 - k));
  }
  EXPECT_EQ(file_count(dir.path()), 10);
  ASSERT_TRUE(cache.find(key(0)).has_value());  // used now
  ASSERT_TRUE(cache.store(key(10), object).has_value());
  for (int k = 0; k <= 10; ++k) EXPECT_EQ(fs::exists(dir / (key(k).hex() + ".so")), k != 1 && k != 2) << k;
  // Another one that starts in the full folder counts what is there.
  ObjectCache second(dir.path(), 4000);
  ASSERT_TRUE(second.store(key(11), object).has_value());
  EXPECT_TRUE(fs::exists(dir / (key(0).hex() + ".so")) && fs::exists(dir / (key(11).hex() + ".so")));
  EXPECT_EQ(file_count(dir.path()), 3);
  EXPECT_FALSE(second.store(key(12), std::string(4000, 'x')).has_value());  // larger than all of it
  EXPECT_EQ(file_count(dir.path()), 3);
}

}  // namespace
}  // namespace lumen::cpu
