// Runs cases: compiles all, each twice, then times them in turns.
#pragma once

#include <span>

#include "bench/suite/report.h"

namespace lumen::bench {

struct RunPlan {
  int trials = 11;
  double trial_seconds = 5e-3;  // of runs make a trial

  static RunPlan quick() { return {5, 2e-3}; }
};

// One result for each case; a case that does not compile or run has its problem instead of a time. The trials of all
// cases take turns, so that what disturbs the machine for a while disturbs none of them alone.
// The options' trace, where there is one, gets the compilations, and after all trials one more run of each case.
std::vector<Result> run_suite(std::span<const Case> cases, const RunPlan& plan,
                              const CompileOptions& options = CompileOptions::from_flags());

// What the GPU of the options does at most, by programs that do nothing else: elements copied, matrices multiplied.
struct GpuLimits {
  std::string hardware;
  Limits limits;
};
Expected<GpuLimits> measure_gpu(const CompileOptions& options);

}  // namespace lumen::bench
