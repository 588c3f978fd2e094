#include "lumen/base/progress.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <string>
#include <thread>
#include <vector>

namespace lumen {
namespace {

TEST(Progress, QuietWhenNotATerminal) {
  std::FILE* file = std::tmpfile();
  ASSERT_NE(file, nullptr);
  {
    Progress progress("tune", 10, file);
    progress.set_best("1.31 ms");
    for (int i = 0; i < 10; ++i) progress.advance();
    progress.finish();
  }
  EXPECT_EQ(std::ftell(file), 0);
  std::fclose(file);
}

// A pseudo-terminal: what a person would see.
class Terminal {
 public:
  Terminal() : master_(posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK)) {
    if (master_ < 0 || grantpt(master_) != 0 || unlockpt(master_) != 0) return;
    stream_ = std::fopen(ptsname(master_), "w");
  }
  ~Terminal() {
    if (stream_ != nullptr) std::fclose(stream_);
    if (master_ >= 0) close(master_);
  }
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  std::FILE* stream() { return stream_; }
  std::string read_all() {
    std::string text;
    char buffer[4096];
    for (ssize_t n = 0; (n = read(master_, buffer, sizeof buffer)) > 0;) text.append(buffer, static_cast<size_t>(n));
    return text;
  }

 private:
  int master_;
  std::FILE* stream_ = nullptr;
};

TEST(Progress, RewritesOneLineAtMostTenTimesASecond) {
  Terminal terminal;
  if (terminal.stream() == nullptr) GTEST_SKIP() << "no pseudo-terminal to be had";
  {
    Progress progress("tune", 1000, terminal.stream());
    std::vector<std::thread> threads;
    for (int t = 0; t < 2; ++t) {
      threads.emplace_back([&] {
        for (int i = 0; i < 500; ++i) progress.advance();
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
  const std::string text = terminal.read_all();
  EXPECT_TRUE(text.starts_with("\r\x1b[Ktune  0/1000  0.0 s")) << text;
  EXPECT_TRUE(text.ends_with("\r\x1b[K")) << text;
  EXPECT_EQ(text.find('\n'), std::string::npos);
  EXPECT_LT(text.size(), 200u) << "1000 steps in no time must not be 1000 lines";
}

TEST(Progress, LeavesTheLineOfAnotherWhenItShowedNothing) {
  Terminal terminal;
  if (terminal.stream() == nullptr) GTEST_SKIP() << "no pseudo-terminal to be had";
  { Progress progress("wait", 0, terminal.stream(), std::chrono::hours(1)); }
  EXPECT_EQ(terminal.read_all(), "");
}

TEST(ProgressLine, Texts) {
  EXPECT_EQ(progress_line("tune", 0, 80, "", 0), "tune  0/80  0.0 s");
  EXPECT_EQ(progress_line("tune", 20, 80, "1.31 ms", 5), "tune  20/80  best 1.31 ms  5.0 s  ~15.0 s left");
  EXPECT_EQ(progress_line("tune", 80, 80, "", 125.9), "tune  80/80  2 min 05 s");
  EXPECT_EQ(progress_line("saturate", 12, 0, "", 7384), "saturate  12  2 h 03 min");
  EXPECT_EQ(progress_line("wait", 0, 0, "", 3), "wait  3.0 s");
}

}  // namespace
}  // namespace lumen
