// Subject: a case compiled, with inputs, ready to be timed again and again.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "bench/suite/case.h"
#include "lumen/backend/buffer.h"
#include "lumen/runtime/session.h"

namespace lumen::bench {

// How a case was compiled: the first time in this process, and a second time, when all is known.
struct CompileTimes {
  double seconds = 0;
  int64_t measured = 0;  // kernels that were timed for it; 0 says that the database knew them all
  double again_seconds = 0;
};

class Subject {
 public:
  // Compiles it, and once more when `twice`. The inputs hold random values of the case's ranges.
  static Expected<Subject> make(const Case& c, bool twice);

  const CompileTimes& compile_times() const { return times_; }
  const Graph& graph() const { return session_->graph(); }

  // The storage of an input, to be filled before a run.
  std::span<std::byte> input(size_t number) const;
  std::span<const std::byte> output(std::string_view name) const { return session_->bytes(name); }

  Expected<void> run();
  // Seconds of one run, as the mean of `runs` after one that is not counted.
  Expected<double> time(int64_t runs);
  // How many runs take about so long; at least 1.
  Expected<int64_t> runs_in(double seconds);

 private:
  Subject() = default;

  std::unique_ptr<Session> session_;
  std::vector<Buffer> inputs_;
  CompileTimes times_;
};

}  // namespace lumen::bench
