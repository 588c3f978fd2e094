// Where the time of a program goes, kernel by kernel, beside what the machine was measured to do.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "bench/suite/limits.h"
#include "lumen/backend/executable.h"

namespace lumen::bench {

// All calls of one kernel under one schedule in a run.
struct KernelProfile {
  std::string name;
  std::string schedule;  // empty: interpreted
  int64_t calls = 0;
  double seconds = 0;  // of all calls together: the median over the runs
  Work work;           // likewise

  double bytes_per_second() const { return seconds > 0 ? work.bytes / seconds : 0; }
  double flops_per_second() const { return seconds > 0 ? work.flops / seconds : 0; }
  // MBU and MFU: shares of what copies of the size of one call reach, and of the unit that multiplies.
  double memory_share(const Limits& limits) const;
  double compute_share(const Limits& limits) const;
};

// A program over several runs, the kernel that takes longest first.
class Profile {
 public:
  // Runs are of the same program.
  void add_run(std::span<const CallTime> calls, double wall_seconds);

  std::vector<KernelProfile> kernels() const;
  double wall() const;     // seconds of a run: the median
  double between() const;  // of these, outside of kernels: the median
  size_t runs() const { return walls_.size(); }

 private:
  struct Entry {
    KernelProfile kernel;
    std::vector<double> seconds;  // by run
  };
  std::vector<Entry> entries_;
  std::vector<double> walls_;     // by run
  std::vector<double> betweens_;  // by run
};

// One line for each kernel, what there is beside kernels, and a total; ends with a newline. Kernels of less than
// `least` of the whole are one line together.
std::string profile_table(const Profile& profile, const Limits& limits, double least = 0.002);
std::string profile_json(const Profile& profile, const Limits& limits);

}  // namespace lumen::bench
