// Subject: a case compiled, with inputs, ready to be timed again and again.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "bench/suite/case.h"
#include "lumen/backend/buffer.h"
#include "lumen/compile.h"

namespace lumen::bench {

// How a case was compiled, and what came of it.
struct CompileFacts {
  double seconds = 0;        // the first time in this process
  int64_t measured = 0;      // kernels that were timed for it; 0 says that the database knew them all
  double again_seconds = 0;  // a second time, when all is known
  int64_t kernels = 0;       // distinct ones of the program
  int64_t calls = 0;         // of them, in one run
};

class Subject {
 public:
  // Compiles it, and once more when `twice`. The inputs hold random values of the case's ranges.
  static Expected<Subject> make(const Case& c, bool twice, CompileOptions options = CompileOptions::from_flags());

  const CompileFacts& compile_facts() const { return facts_; }
  const Graph& graph() const { return session_->graph(); }
  const std::string& hardware() const { return hardware_; }  // the fingerprint of what it runs on

  // The storage of an input, to be filled before a run.
  std::span<std::byte> input(size_t number) const;
  std::span<const std::byte> output(std::string_view name) const { return session_->bytes(name); }

  Expected<void> run();
  Expected<void> run_traced(Trace& trace);
  // Seconds of one run, as the mean of `runs` after one that is not counted. On a GPU by its own clock, with nothing
  // left in its cache, and of a few runs at most.
  Expected<double> time(int64_t runs);
  // How many runs take about so long; at least 1.
  Expected<int64_t> runs_in(double seconds);

 private:
  Subject() = default;

  std::unique_ptr<Session> session_;
  std::vector<Buffer> inputs_;
  std::string hardware_;
  bool on_gpu_ = false;
  CompileFacts facts_;
};

}  // namespace lumen::bench
