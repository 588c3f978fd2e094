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
  // The outputs of each of several kernels, the last steps of which are one launch (lumen/codegen/cuda_together.h); its
  // text is among those given to the constructor.
  std::vector<std::vector<HostTensor>> run_joint(std::span<const Case> cases, std::mt19937_64& random) const;

 private:
  // False: there is no such function.
  bool launch(const std::string& name, const std::vector<int64_t>& words, int64_t blocks, int64_t threads,
              int64_t shared, const std::string& about) const;

  CompiledText compiled_;
};

// Of a kernel that may be wrong: how many failures are reported, then the elements of its first output.
std::vector<double> reports_and_results(const Case& given, std::mt19937_64& random);

// Runs the cases, which must end without a fault, and hands each output to `expect`, beside the reference's and with
// the case, until a test fails.
template <class Expect>
void expect_emulated(const std::vector<KernelText>& kernels, const std::vector<Case>& cases, std::mt19937_64& random,
                     const Expect& expect) {
  ASSERT_FALSE(cases.empty());
  const Emulated emulated(kernels);
  for (const Case& each : cases) {
    const auto [got, fault] = emulated.run(each, random);
    const std::vector<HostTensor> wanted = wanted_of(each).value();
    ASSERT_EQ(fault, 0);
    for (size_t k = 0; k < wanted.size(); ++k) expect(got[k], wanted[k], each);
    if (::testing::Test::HasFailure()) return;
  }
}

}  // namespace lumen::testing
