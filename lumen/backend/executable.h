// Executable: a graph that runs, whatever on. What a Session drives.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "lumen/base/expected.h"

namespace lumen {

struct CallTime {
  std::string name;      // what the kernel computes
  std::string schedule;  // and how
  double start = 0;      // seconds, of a steady clock
  double seconds = 0;
};

class Executable {
 public:
  virtual ~Executable() = default;

  // Fixes the dims, in the order of the graph's, for the runs that follow.
  virtual Expected<void> prepare(std::span<const int64_t> dims) = 0;
  // After prepare: whether an output may have the buffer of the state that it updates.
  virtual bool in_place(size_t /*output*/) const { return false; }
  // One run, after prepare. Tensors are as they are stored (dtype.h), in the order of the graph's inputs and outputs;
  // outputs have room for one element at least and overlap nothing else. After an error they hold anything.
  virtual Expected<void> run(std::span<const void* const> inputs, std::span<void* const> outputs) = 0;

  // While on, every run notes when each of its kernels ran.
  virtual void set_profiling(bool) {}
  // Of the last run with profiling on; empty where there are no kernels.
  virtual std::span<const CallTime> profile() const { return {}; }
};

}  // namespace lumen
