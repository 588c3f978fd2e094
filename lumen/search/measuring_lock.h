// One process at a time measures on a machine, as far as they share a tuning database.
#pragma once

#include <string>

namespace lumen::search {

// Waits for the lock of the database at `path`: the file PATH.lock. It ends with the process, however that ends. Where
// none can be made there is none, and a process that keeps it for minutes (it was stopped) is not waited for: times are
// then worse, and processes may choose differently, but nothing is wrong.
class MeasuringLock {
 public:
  explicit MeasuringLock(const std::string& path);
  ~MeasuringLock();
  MeasuringLock(MeasuringLock&& other) noexcept : fd_(other.fd_) { other.fd_ = -1; }
  MeasuringLock& operator=(MeasuringLock&&) = delete;

 private:
  int fd_ = -1;
};

}  // namespace lumen::search
