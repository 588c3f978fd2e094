#include "lumen/base/progress.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <utility>

namespace lumen {
namespace {

std::string duration_text(double seconds) {
  if (seconds < 60) return fmt::format("{:.1f} s", seconds);
  const auto whole = static_cast<long long>(seconds);
  if (whole < 3600) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
  return fmt::format("{} h {:02} min", whole / 3600, whole / 60 % 60);
}

// A wrapped line could not be taken back with \r.
std::string_view cut_to_width(std::string_view line, std::FILE* stream) {
  winsize size{};
  if (ioctl(fileno(stream), TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return line.substr(0, 79);
  return line.substr(0, size.ws_col - 1u);
}

}  // namespace

std::string progress_line(std::string_view stage, size_t done, size_t total, std::string_view best, double seconds) {
  std::string line(stage);
  if (total > 0) {
    line += fmt::format("  {}/{}", done, total);
  } else if (done > 0) {
    line += fmt::format("  {}", done);
  }
  if (!best.empty()) line += fmt::format("  best {}", best);
  line += "  " + duration_text(seconds);
  if (done > 0 && done < total) {
    const double left = seconds / static_cast<double>(done) * static_cast<double>(total - done);
    line += fmt::format("  ~{} left", duration_text(left));
  }
  return line;
}

Progress::Progress(std::string stage, size_t total, std::FILE* stream, Clock::duration quiet)
    : stream_(isatty(fileno(stream)) != 0 ? stream : nullptr), quiet_(quiet), stage_(std::move(stage)), total_(total) {
  const std::lock_guard lock(mutex_);
  redraw();
}

Progress::~Progress() { finish(); }

void Progress::advance(size_t steps) {
  const std::lock_guard lock(mutex_);
  done_ += steps;
  redraw();
}

void Progress::set_stage(std::string stage) {
  const std::lock_guard lock(mutex_);
  stage_ = std::move(stage);
  redraw();
}

void Progress::set_best(std::string text) {
  const std::lock_guard lock(mutex_);
  best_ = std::move(text);
  redraw();
}

void Progress::set_total(size_t total) {
  const std::lock_guard lock(mutex_);
  total_ = total;
  redraw();
}

void Progress::finish() {
  const std::lock_guard lock(mutex_);
  if (stream_ == nullptr) return;
  if (drawn_ != Clock::time_point()) {  // else the line there is somebody else's
    std::fputs("\r\x1b[K", stream_);
    std::fflush(stream_);
  }
  stream_ = nullptr;
}

void Progress::redraw() {
  if (stream_ == nullptr) return;
  const Clock::time_point now = Clock::now();
  if (now - start_ < quiet_) return;
  if (drawn_ != Clock::time_point() && now - drawn_ < std::chrono::milliseconds(100)) return;
  drawn_ = now;
  const double seconds = std::chrono::duration<double>(now - start_).count();
  const std::string line = progress_line(stage_, done_, total_, best_, seconds);
  const std::string_view shown = cut_to_width(line, stream_);
  std::fprintf(stream_, "\r\x1b[K%.*s", static_cast<int>(shown.size()), shown.data());
  std::fflush(stream_);
}

}  // namespace lumen
