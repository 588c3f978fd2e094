// Steps of kernels that are products of a library.
#pragma once

#include <map>
#include <memory>
#include <tuple>
#include <vector>

#include "lumen/backend/cuda/cuda_device.h"
#include "lumen/backend/program.h"

namespace lumen::cuda {

// A launch of a step: LumenArgs (codegen/kernel_text.h) as words. A library's product finds its addresses there.
struct Launch {
  Function function = nullptr;
  unsigned blocks = 0;  // 0: nothing to do
  unsigned threads = 0;
  unsigned shared = 0;
  std::vector<uint64_t> arguments;
  std::shared_ptr<const MatrixProduct> product = {};
  size_t rows = 0, columns = 0, result = 0, scratch = 0;  // words of `arguments`
  std::vector<size_t> scales = {};                        // the same
  int64_t workspace = 0;                                  // where it begins in scratch
};
constexpr size_t kSizes = 1, kFaults = 2, kEnded = 3, kFirstInput = 4;  // after the rows

class LibraryLaunches {
 public:
  LibraryLaunches(const Program& program, const CudaDevice& device) : program_(program), device_(device) {}

  // Fills what a Launch needs to be the product that step `step` of a call is. `dims` are values of n0, n1, …; where
  // the buffers have room for those of `roomy` it is of that size, and computes rows that nobody reads.
  Expected<void> bind(const ProgramCall& call, size_t step, const std::vector<int64_t>& dims,
                      const std::vector<int64_t>& roomy, Launch& launch);
  // Of a Launch whose words are all there.
  Expected<void> run(const Launch& launch) const;

 private:
  Expected<bool> has_room(const ProgramCall& call, const LibraryProduct& product, const DimValues& dims,
                          const DimValues& roomy) const;

  const Program& program_;
  const CudaDevice& device_;
  // By kernel, by step, by the kernel's dims: which algorithm runs is asked once.
  std::map<std::tuple<uint32_t, size_t, std::vector<int64_t>>, std::shared_ptr<const MatrixProduct>> products_;
};

// n0, n1, …: what the text of a kernel calls the dims of its body.
DimValues numbered_dims(const std::vector<int64_t>& dims);

}  // namespace lumen::cuda
