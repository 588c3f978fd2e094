// Executable: a graph that runs, whatever on. What a Session drives.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "lumen/backend/memory.h"
#include "lumen/kernel/work.h"

namespace lumen {

// What one thread did of a call.
struct ShareTime {
  std::thread::id thread;
  double start = 0;  // of seconds_now()
  double seconds = 0;
};

struct CallTime {
  std::string name;      // what the kernel computes
  std::string schedule;  // and how; empty: interpreted
  Work work = {};        // at the sizes of the run
  double start = 0;      // of seconds_now(), by the thread that runs the program
  double seconds = 0;
  std::vector<ShareTime> shares = {};  // empty when that thread did all of it
};

class Executable {
 public:
  virtual ~Executable() = default;

  // Fixes the dims, in the order of the graph's, for the runs that follow.
  virtual Expected<void> prepare(std::span<const int64_t> dims) = 0;
  // After prepare: whether an output may have the buffer of the state that it updates.
  virtual bool in_place(size_t /*output*/) const { return false; }
  // Where its tensors live.
  virtual const std::shared_ptr<Memory>& memory() const { return host_memory(); }
  // One run, after prepare. Tensors are as they are stored (dtype.h), in the order of the graph's inputs and outputs;
  // outputs have room for one element at least and overlap nothing else. After an error they hold anything.
  virtual Expected<void> run(std::span<const void* const> inputs, std::span<void* const> outputs) = 0;

  // Begins a run, which finish() waits for. Two may be under way, with outputs of their own: the second is computed
  // after the first, whatever it reads of it, and finish() waits for the one that began first. In between, nothing is
  // prepared, and what run() may find wrong is found by either.
  virtual Expected<void> start(std::span<const void* const> inputs, std::span<void* const> outputs) {
    return run(inputs, outputs);
  }
  virtual Expected<void> finish() { return {}; }

  // Before the first run of what nobody has run before: finds out whether it comes to an end, where it can do no harm
  // if that is possible. An error that begins with kTrialFault (device.h): it must not be run. Outputs hold anything
  // then.
  virtual Expected<void> try_out(std::span<const void* const> /*inputs*/, std::span<void* const> /*outputs*/) {
    return {};
  }

  // After run or finish: a copy on the host of an output that lies elsewhere, where there is one; until the next run,
  // or the second one to start.
  virtual const std::byte* fetched(size_t /*output*/) const { return nullptr; }
  // Seconds that a run takes: of `runs` in a row, on average.
  virtual Expected<double> time(std::span<const void* const> inputs, std::span<void* const> outputs, int64_t runs);

  // While on, every run notes when each of its kernels ran.
  virtual void set_profiling(bool) {}
  // Of the last run with profiling on; empty where there are no kernels.
  virtual std::span<const CallTime> profile() const { return {}; }
};

// One run, the first, with tensors on the host, wherever the Executable has its own. Sizes are in bytes.
Expected<void> run_from_host(Executable& executable, std::span<const void* const> inputs,
                             std::span<const int64_t> input_bytes, std::span<void* const> outputs,
                             std::span<const int64_t> output_bytes);

}  // namespace lumen
