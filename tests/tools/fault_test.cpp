// What befalls a machine while `lumen` works on it: the result is right or the message is clear, and the next run is as
// if nothing had been.
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <set>
#include <thread>

#include "tests/backend/cpu/fake_compiler.h"
#include "tests/support/source_dir.h"
#include "tests/tools/program.h"

namespace lumen::tests {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

const std::string kSoftmaxFile = (source_dir() / "examples/softmax.hlir").string();

size_t occurrences(const std::string& text, const std::string& part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

// A cache and a folder for temporary files, both of this test.
class Faults : public ::testing::Test {
 protected:
  Faults() { fs::create_directories(folder_ / "tmp"); }

  Words variables(const Words& more = {}) const {
    Words all = {"LUMEN_CACHE=" + folder_ / "cache", "TMPDIR=" + folder_ / "tmp", "LUMEN_THREADS=1"};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  Words comparing() const { return {lumen_program(), "run", kSoftmaxFile, "--compare", "reference"}; }
  Words compiling(const std::string& output) const { return {lumen_program(), "compile", kSoftmaxFile, "-o", output}; }
  Finished run(const Words& command, const Words& more = {}) const {
    return run_program(command, folder_.path(), "", variables(more));
  }
  // Right, and all of it kept: the second run measures nothing.
  void expect_recovered() const {
    const Finished first = run(comparing());
    EXPECT_EQ(first.status, 0) << first.out << first.err;
    const Finished second = run(compiling("again.lumen"));
    EXPECT_EQ(second.status, 0) << second.err;
    EXPECT_NE(second.out.find(" 0 kernels measured"), std::string::npos) << second.out;
    EXPECT_EQ(second.err, "");
  }
  // Every time that was measured, with its number.
  std::set<std::string> entries() const {
    std::set<std::string> all;
    const Finished shown = run({lumen_program(), "tune", "export"});
    EXPECT_EQ(shown.status, 0) << shown.err;
    for (const nlohmann::json& entry : nlohmann::json::parse(shown.out)["entries"]) all.insert(entry.dump());
    return all;
  }
  // The same command on a machine whose folder `where` has room for this much; empty where that cannot be made.
  Words with_disk_of(const std::string& size, const std::string& where, const Words& command) const {
    fs::create_directories(folder_ / where);
    const std::string mount = "mount -t tmpfs -o size=" + size + " none " + folder_ / where;
    Words all = {"/usr/bin/unshare",
                 "-rm",
                 "/bin/sh",
                 "-c",
                 mount + " && \"$@\"; s=$?; ls -A " + folder_ / where + " >&2; exit $s",
                 "sh"};
    Words probe = all;
    probe.emplace_back("true");
    if (run(probe).status != 0) return {};
    all.insert(all.end(), command.begin(), command.end());
    return all;
  }

  TemporaryFolder folder_;
};

constexpr const char* kCannotMount = "no small file system: unshare and mount are not for this user";

TEST_F(Faults, a_compiler_that_is_missing_or_fails_is_an_error) {
  const Finished missing = run(comparing(), {"LUMEN_CC=/no/such/cc"});
  EXPECT_EQ(missing.status, 1);
  EXPECT_NE(missing.err.find("lumen: [cpu] no C compiler found: LUMEN_CC is \"/no/such/cc\""), std::string::npos)
      << missing.err;
  const std::string accept = "case \"$*\" in *-fsyntax-only*) exit 0;; esac\n";
  const std::string cc = cpu::fake_compiler(folder_ / "cc", accept + "exit 3");
  const Finished failing = run(comparing(), {"LUMEN_CC=" + cc});
  EXPECT_EQ(failing.status, 1) << failing.out;
  EXPECT_NE(failing.err.find("lumen: [cpu] the C compiler exited with status 3\n  note: command: " + cc),
            std::string::npos)
      << failing.err;
  EXPECT_EQ(failing.out, "");
  expect_recovered();
}

// Every graph has a program, even where a compiler does not take our kernels.
TEST_F(Faults, kernels_that_no_compiler_takes_are_interpreted) {
  const std::string cc = cpu::fake_compiler(
      folder_ / "cc", "case \"$*\" in *-fsyntax-only*) exit 0;; esac\necho 'k1:2:3: error: not today'; exit 1");
  const Finished done = run(comparing(), {"LUMEN_CC=" + cc});
  EXPECT_EQ(done.status, 0) << done.out << done.err;
  EXPECT_NE(done.err.find("[lumen] a kernel does not compile: k1:2:3: [cpu] error: not today"), std::string::npos)
      << done.err;
  expect_recovered();
}

TEST_F(Faults, a_full_disk_under_the_cache_costs_only_the_cache) {
  for (const char* size : {"4k", "64k", "100k"}) {
    const Words command = with_disk_of(size, "cache", comparing());
    if (command.empty()) GTEST_SKIP() << kCannotMount;
    const Finished done = run(command);
    EXPECT_EQ(done.status, 0) << size << "\n" << done.out << done.err;
    EXPECT_EQ(occurrences(done.err, "[lumen] measured times are not kept: "), 1U) << size << "\n" << done.err;
    EXPECT_EQ(occurrences(done.err, "[lumen] compiled kernels are not kept: "), 1U) << size << "\n" << done.err;
  }
  expect_recovered();
}

TEST_F(Faults, a_full_disk_under_the_compiler_is_an_error) {
  const Words command = with_disk_of("16k", "tmp", comparing());
  if (command.empty()) GTEST_SKIP() << kCannotMount;
  const Finished done = run(command);
  EXPECT_EQ(done.status, 1) << done.out;
  EXPECT_NE(done.err.find("lumen: [cpu] cannot write " + folder_ / "tmp/lumen-"), std::string::npos) << done.err;
  EXPECT_NE(done.err.find("No space left on device"), std::string::npos) << done.err;
  expect_recovered();
}

TEST_F(Faults, a_full_disk_leaves_no_half_program) {
  const Words command = with_disk_of("8k", "out", compiling("out/a.lumen"));
  if (command.empty()) GTEST_SKIP() << kCannotMount;
  const Finished done = run(command);
  EXPECT_EQ(done.status, 1) << done.out;
  EXPECT_TRUE(done.err.ends_with("lumen: out/a.lumen: cannot write: No space left on device\n")) << done.err;
}

TEST_F(Faults, a_cache_that_cannot_be_written_costs_only_the_cache) {
  std::ofstream(folder_ / "cache") << "in the way";
  const Finished done = run(comparing());
  EXPECT_EQ(done.status, 0) << done.out << done.err;
  EXPECT_EQ(
      occurrences(done.err, "[lumen] measured times are not kept: " + folder_ / "cache: cannot make the folder: "), 1U)
      << done.err;
  const Finished without = run(comparing(), {"LUMEN_CACHE=none"});
  EXPECT_EQ(without.status, 0) << without.err;
  EXPECT_EQ(occurrences(without.err, "[lumen]"), 0U) << without.err;
}

TEST_F(Faults, damage_is_mended) {
  ASSERT_EQ(run(compiling("whole.lumen")).status, 0);
  for (const bool cut : {true, false}) {
    for (const auto& entry : fs::directory_iterator(folder_ / "cache/cpu")) {
      const auto bytes = static_cast<std::streamoff>(fs::file_size(entry.path()));
      if (cut) fs::resize_file(entry.path(), static_cast<uintmax_t>(bytes / 2));
      std::fstream file(entry.path(), std::ios::in | std::ios::out | std::ios::binary);
      file.seekp(bytes / 3);
      file << "damaged";
    }
    EXPECT_EQ(run(comparing()).status, 0);
    const Finished again = run(compiling("again.lumen"));
    EXPECT_EQ(again.err, "");
    EXPECT_EQ(folder_.read("again.lumen"), folder_.read("whole.lumen"));  // the times are what they were
  }
  std::ofstream(folder_ / "cache/tuning.db", std::ios::binary) << std::string(20000, '?');
  const Finished done = run(comparing());
  EXPECT_EQ(done.status, 0) << done.out << done.err;
  EXPECT_EQ(occurrences(done.err, "tuning.db was damaged"), 1U) << done.err;
  expect_recovered();
}

// Killed at moments from the start to the end of the longest run: the first one.
TEST_F(Faults, a_kill_at_any_moment_loses_nothing_that_was_measured) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point start = Clock::now();
  ASSERT_EQ(run(comparing()).status, 0);
  const auto whole = Clock::now() - start;
  fs::remove_all(folder_ / "cache");
  constexpr int kMoments = 8;
  std::set<std::string> known;
  int killed = 0;
  for (int moment = 1; moment <= kMoments; ++moment) {
    const StartedProgram program(comparing(), folder_.path(), "", variables());
    std::this_thread::sleep_for(whole * moment / kMoments);
    program.kill();
    const Finished ended = program.wait();
    killed += ended.status == -1 ? 1 : 0;
    EXPECT_TRUE(ended.status == -1 || ended.status == 0) << ended.err;
    std::set<std::string> now = entries();
    EXPECT_TRUE(std::includes(now.begin(), now.end(), known.begin(), known.end())) << "lost at moment " << moment;
    known = std::move(now);
  }
  EXPECT_GT(killed, 0);
  expect_recovered();
  const std::set<std::string> now = entries();
  EXPECT_TRUE(std::includes(now.begin(), now.end(), known.begin(), known.end()));
}

TEST_F(Faults, processes_at_once_make_the_same_program) {
  for (const int count : {2, 4}) {
    fs::remove_all(folder_ / "cache");
    std::vector<std::unique_ptr<StartedProgram>> programs;
    for (int k = 0; k < count; ++k) {
      const Words command = compiling(std::to_string(k) + ".lumen");
      programs.push_back(std::make_unique<StartedProgram>(command, folder_.path(), "", variables()));
    }
    for (int k = 0; k < count; ++k) {
      const Finished done = programs[static_cast<size_t>(k)]->wait();
      EXPECT_EQ(done.status, 0) << done.err;
      EXPECT_TRUE(folder_.read(std::to_string(k) + ".lumen") == folder_.read("0.lumen")) << k << " of " << count;
    }
    expect_recovered();
    EXPECT_TRUE(folder_.read("again.lumen") == folder_.read("0.lumen"));
  }
}

// A library of products that is faster than any, because it does nothing.
TEST_F(Faults, a_library_is_not_trusted_nor_taken_for_granted) {
  folder_.write("blas.c",
                "void cblas_sgemm(void) {}\nvoid cblas_dgemm(void) {}\nvoid openblas_set_num_threads(int n) {}\n"
                "int openblas_get_num_threads(void) { return 1; }\n"
                "const char* openblas_get_config(void) { return \"idle\"; }\n");
  ASSERT_EQ(run({"/usr/bin/env", "cc", "-shared", "-fPIC", "-w", "-o", "blas.so", "blas.c"}).status, 0);
  folder_.write("product.hlir",
                "lumen 1\n%a = Input() :name \"a\" :shape [96,96]\n%b = Input() :name \"b\" :shape [96,96]\n"
                "%x = View(%a) :view {[96,96,96] i0*96 + i2}\n%y = View(%b) :view {[96,96,96] i2*96 + i1}\n"
                "%p = Mul(%x, %y)\n%s = SumReduce(%p) :axis 2\noutput \"c\" = %s\n");
  const Words idle = {"LUMEN_BLAS=" + folder_ / "blas.so"};
  const Words compile = {lumen_program(), "compile", "product.hlir"};
  const Finished found_out = run(compile, idle);
  EXPECT_EQ(found_out.status, 1) << found_out.out;
  EXPECT_NE(found_out.err.find("[verify] the program that was found does not compute the graph"), std::string::npos)
      << found_out.err;
  EXPECT_NE(found_out.err.find("library"), std::string::npos) << found_out.err;
  Words unverified = compile;
  unverified.insert(unverified.end(), {"--no-verify", "-o", "product.lumen"});
  ASSERT_EQ(run(unverified, idle).status, 0);
  const Finished missed = run({lumen_program(), "run", "product.lumen"}, {"LUMEN_BLAS=none"});
  EXPECT_EQ(missed.status, 1) << missed.out;
  EXPECT_NE(missed.err.find("the program multiplies matrices by OpenBLAS, which is not found here"), std::string::npos)
      << missed.err;
  const Finished without = run({lumen_program(), "run", "product.hlir", "--compare", "reference", "--atol", "1e-4"},
                               {"LUMEN_BLAS=" + folder_ / "none.so"});
  EXPECT_EQ(without.status, 0) << without.out << without.err;
  EXPECT_EQ(occurrences(without.err, "[lumen] [cpu] OpenBLAS cannot be loaded: " + folder_ / "none.so"), 1U)
      << without.err;
}

}  // namespace
}  // namespace lumen::tests
