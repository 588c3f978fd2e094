#include "lumen/search/measuring_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <thread>

#include "lumen/base/progress.h"
#include "lumen/search/tuning_store.h"

namespace lumen::search {

namespace {

using Clock = Progress::Clock;

constexpr auto kBetweenLooks = std::chrono::milliseconds(10);
constexpr auto kSilence = std::chrono::seconds(2);
constexpr auto kPatience = std::chrono::minutes(3);

// False when somebody else has it.
bool try_lock(int fd) {
  int status = 0;
  do {
    status = ::flock(fd, LOCK_EX | LOCK_NB);
  } while (status != 0 && errno == EINTR);
  return status == 0 || errno != EWOULDBLOCK;
}

}  // namespace

// Not the database's own file: to close any handle of it would end SQLite's locks.
MeasuringLock::MeasuringLock(const std::string& path) {
  if (path == kMemory) return;
  const std::string name = path + ".lock";
  fd_ = ::open(name.c_str(), O_RDONLY | O_CREAT | O_CLOEXEC, 0644);
  if (fd_ < 0) return;
  const Clock::time_point start = Clock::now();
  Progress progress("waiting for another process that measures kernels", 0, stderr, kSilence);
  while (!try_lock(fd_) && Clock::now() - start < kPatience) {
    progress.advance(0);
    std::this_thread::sleep_for(kBetweenLooks);
  }
}

MeasuringLock::~MeasuringLock() {
  if (fd_ >= 0) ::close(fd_);
}

}  // namespace lumen::search
