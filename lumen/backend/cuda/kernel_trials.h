// Trials of kernels in a worker process, which may lose its GPU instead of this one.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>

#include "lumen/backend/cuda/trial.h"
#include "lumen/backend/cuda/worker_process.h"

namespace lumen::cuda {

// One worker at a time: started when it is needed, and again after a kernel that it did not survive, or a while without
// trials. Several threads may use it.
class KernelTrials {
 public:
  KernelTrials(WorkerOptions options, WorkerHello hello);

  double least_seconds() const { return options_.least_seconds; }
  // Runs a trial, which may take so many seconds. True: it came to its end. False: it could not be tried, because there
  // is no worker (said once in the log) or it has too little memory. An error: it must not be run, and why.
  Expected<bool> run(const Trial& trial, double seconds);
  // Ends the worker, whose memory others need, until the next trial. Whether there was one.
  bool rest();

 private:
  bool is_ready();
  void give_up(const std::string& why);
  std::optional<TrialAnswer> ask(Trial trial, double seconds);

  WorkerOptions options_;
  WorkerHello hello_;
  std::mutex mutex_;
  std::unique_ptr<WorkerProcess> worker_;
  std::set<std::string> sent_;  // keys of objects that it has
  bool gave_up_ = false;
};

}  // namespace lumen::cuda
