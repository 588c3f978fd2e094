// Progress: one live line on stderr for work that takes a while, rewritten in place at most ten times a second:
//   tune  12/80  best 1.31 ms  4.2 s  ~23.8 s left
// Writes nothing at all when the stream is not a terminal. Thread-safe.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdio>
#include <mutex>
#include <string>
#include <string_view>

namespace lumen {

class Progress {
 public:
  using Clock = std::chrono::steady_clock;
  // `total` 0 means that the amount of work is not known. Nothing is shown before `quiet` has passed.
  explicit Progress(std::string stage, size_t total = 0, std::FILE* stream = stderr, Clock::duration quiet = {});
  ~Progress();  // removes the line
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void advance(size_t steps = 1);
  void set_stage(std::string stage);
  void set_best(std::string text);  // the best so far, as it is to be shown
  void set_total(size_t total);
  void finish();  // removes the line; nothing is shown after it

 private:
  void redraw();

  std::mutex mutex_;
  std::FILE* stream_;  // null when quiet
  const Clock::time_point start_ = Clock::now();
  const Clock::duration quiet_;
  Clock::time_point drawn_;
  std::string stage_;
  std::string best_;
  size_t done_ = 0;
  size_t total_;
};

// The text of the line; `seconds` have passed. Apart from the class so that it can be tested without a terminal.
std::string progress_line(std::string_view stage, size_t done, size_t total, std::string_view best, double seconds);

}  // namespace lumen
