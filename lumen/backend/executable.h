// Executable: a graph that runs, whatever on. What a Session drives.
#pragma once

#include <cstdint>
#include <span>

#include "lumen/base/expected.h"

namespace lumen {

class Executable {
 public:
  virtual ~Executable() = default;

  // Fixes the dims, in the order of the graph's, for the runs that follow.
  virtual Expected<void> prepare(std::span<const int64_t> dims) = 0;
  // One run, after prepare. Tensors are as they are stored (dtype.h), in the order of the graph's inputs and outputs;
  // outputs have room for one element at least and overlap nothing. After an error they hold anything.
  virtual Expected<void> run(std::span<const void* const> inputs, std::span<void* const> outputs) = 0;
};

}  // namespace lumen
