// Kernels as CUDA text, compiled as C++ (cuda_words.h) and run on this machine: what they compute, that their threads
// wait for each other where they must, and that nothing is written behind an output.
#pragma once

#include "tests/codegen/kernel_harness.h"

namespace lumen::testing {

class Emulated {
 public:
  explicit Emulated(const std::vector<KernelText>& kernels);

  // The outputs of the kernel and the fault it found. Every step runs in some number of blocks, the last one first.
  // What is wrong with a block (threads that wait in vain, addresses that are not aligned) is a test failure.
  std::pair<std::vector<HostTensor>, int64_t> run(const Case& given, std::mt19937_64& random) const;

 private:
  Compiled compiled_;
};

}  // namespace lumen::testing
