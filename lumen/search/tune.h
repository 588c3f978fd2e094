// Tuning: which schedule of a kernel is the fastest here, and how fast it is. What was measured once is in the
// database.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "lumen/backend/device.h"
#include "lumen/base/trace.h"
#include "lumen/search/tuning_db.h"

namespace lumen::search {

struct Tuned {
  std::string schedule;  // of print_kernel; empty when no kernel computes the body, and it is interpreted
  double seconds = 0;
};

// A body as one kernel, printed by a schedule (empty: interpreted).
Expected<ProgramKernel> make_kernel(const std::shared_ptr<const Graph>& body, const std::string& schedule,
                                    const Target& target);

struct TuneOptions {
  DimValues dims;          // what symbolic dims are measured at
  bool measure = true;     // else the first schedule is taken, and its time estimated
  TuningDb* db = nullptr;  // null: everything is measured anew
  Trace* trace = nullptr;  // gets what was compiled and measured when
};

// A program of nothing but this kernel.
Expected<Program> alone(ProgramKernel kernel);

class Tuner {
 public:
  Tuner(const Device& device, TuneOptions options);
  // For less than the device's target.
  Tuner(const Device& device, TuneOptions options, const Target& target);

  const Target& target() const { return target_; }
  const DimValues& dims() const { return options_.dims; }
  int64_t measured() const { return measured_; }  // kernels, so far

  // One for each body. Bodies that are not known are compiled together and measured.
  Expected<std::vector<Tuned>> tune(std::span<const std::shared_ptr<const Graph>> bodies);
  // All that was measured of a body, or refused: the fastest first.
  Expected<std::vector<TuningEntry>> contenders(const Graph& body) const;
  // Without measuring: a lower bound.
  double estimated(const Graph& body) const;

 private:
  struct Open;  // a body that is not known
  Expected<bool> find(const std::string& text, const Graph& body, Tuned& found) const;
  std::string shape_text(const Graph& body) const;
  Expected<void> leave_out_dangerous(const std::string& text, const Graph& body,
                                     std::vector<std::string>& schedules) const;
  Expected<void> build_all(std::vector<Open>& open);
  Expected<void> measure_unknown(std::vector<Open>& open);
  Expected<void> measure_all(std::vector<Open>& open);
  Expected<void> record(const Open& open, std::span<const std::string> schedules,
                        std::span<const Expected<struct Timing>> timings);
  TuningEntry entry_of(const Open& open, const std::string& schedule, const Expected<struct Timing>& timing) const;

  const Device& device_;
  TuneOptions options_;
  Target target_;
  std::string fingerprint_;
  std::map<std::string, Tuned> known_;  // by the text of the body
  int64_t measured_ = 0;
};

}  // namespace lumen::search
