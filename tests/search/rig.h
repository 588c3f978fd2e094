// What the tests of the tuning database share: a fresh folder, random entries, processes.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>

#include "lumen/search/tuning_db.h"
#include "tests/support/scratch_dir.h"

namespace lumen::search::tests {

class Folder : public lumen::tests::ScratchDir {
 public:
  std::string file(const std::string& name) const { return *this / name; }
  void write(const std::string& name, const std::string& bytes) const {
    std::ofstream(file(name), std::ios::binary | std::ios::trunc) << bytes;
  }
  std::string read(const std::string& name) const {
    std::ifstream stream(file(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
  }
  // Files whose name holds this.
  int count(const std::string& part) const {
    int found = 0;
    for (const auto& entry : std::filesystem::directory_iterator(path())) {
      found += entry.path().filename().string().find(part) != std::string::npos ? 1 : 0;
    }
    return found;
  }
};

inline TuningEntry random_entry(std::mt19937_64& random) {
  const auto draw = [&](uint64_t n) { return random() % n; };
  TuningEntry entry;
  entry.fingerprint = "cpu-" + std::to_string(draw(3));
  entry.kernel = "kernel " + std::to_string(draw(9)) + " \"\\\n\tπ" + std::string(draw(300), 'k');
  entry.shape = draw(4) == 0 ? "" : "n=" + std::to_string(draw(50));
  entry.schedule = "tile " + std::to_string(draw(1000)) + "x" + std::to_string(draw(1000));
  entry.date = static_cast<int64_t>(draw(4000000000));
  if (draw(4) == 0) {
    entry.rejected = "wrong by " + std::to_string(draw(100)) + "'";
  } else {
    entry.seconds = static_cast<double>(draw(1 << 20)) * 1e-7 / 3;
    entry.spread = static_cast<double>(draw(1000)) * 1e-9;
    entry.trials = static_cast<int64_t>(1 + draw(1000));
  }
  return entry;
}

// Runs `work` in a process of its own; the status is 0 when it gave true.
template <class Work>
pid_t in_child(Work work) {
  const pid_t child = fork();
  if (child == 0) _exit(work() ? 0 : 1);
  return child;
}
inline int wait_for(pid_t child) {
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return status;
}

// Both engines: the one of the build, and JSON lines.
class Engines : public ::testing::TestWithParam<std::string> {
 protected:
  Folder folder_;
  std::string path() const { return GetParam() == kMemory ? kMemory : folder_.file(GetParam()); }
};

}  // namespace lumen::search::tests
