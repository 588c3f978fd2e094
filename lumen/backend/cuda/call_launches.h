// The calls of a program as launches: the functions of its code, their sizes and addresses; waves of calls as one.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "lumen/backend/cuda/call_times.h"
#include "lumen/backend/cuda/cuda_executable.h"
#include "lumen/backend/cuda/library_launches.h"
#include "lumen/backend/cuda/trial.h"
#include "lumen/codegen/cuda_together.h"

namespace lumen::cuda {

class CallLaunches {
 public:
  // Both outlive it.
  CallLaunches(const Program& program, const CudaDevice& device)
      : program_(program), device_(device), products_(program, device) {}

  // `code` may be null where no kernel has text.
  Expected<void> load(const CudaCode* code);

  // First the sizes: bytes of scratch, by call. Scratch and grids are for those of `roomy`. Then where the program's
  // own memory is: slots of the arena, what sizes() is copied to, and a word for the faults of each call. Then where
  // inputs and outputs are, before each run that has others.
  Expected<std::vector<int64_t>> bind_sizes(const DimValues& named, const DimValues& roomy);
  void bind_addresses(const std::byte* arena, std::span<const int64_t> offsets, const std::byte* sizes,
                      const std::byte* faults);
  // What kernels read: for each step of a kernel with dims its rows and the dims. Always as many.
  std::span<const int64_t> sizes() const { return sizes_; }
  // What launches have of sizes themselves: those that are alike in it and in their addresses are one captured graph.
  std::vector<uint64_t> shape() const;
  void fill_places(std::span<const void* const> inputs, std::span<void* const> outputs);

  // A word for each call, which gets the time of the GPU when it ended; null for none, as after bind_addresses().
  void note_ends(const std::byte* ends);
  // Whether a call does: a product of a library that comes last does not.
  bool notes_its_end(size_t call) const;

  // Values of the dims of a call's kernel.
  const std::vector<int64_t>& dims(size_t call) const { return kernel_dims_[program_.calls[call].kernel]; }
  // Whether no kernel computes it.
  bool is_interpreted(size_t call) const { return launches_[call].empty(); }

  // A library loads its kernels when they are first used, which cannot be while work is captured.
  Expected<void> run_products() const;
  // To the device's stream. `early`: all but the first are begun before what is before them has ended.
  Expected<void> launch_call(size_t k) const;
  // `mark`, if there is one, comes behind each call that does not note its end itself.
  using Mark = std::function<Expected<void>(size_t call)>;
  Expected<void> launch_waves(bool early, const Mark& mark = nullptr) const;
  // What is launched together, in order.
  std::vector<Launched> launched() const;
  // The same as what a worker is asked to do. A library's products are left out: they are not on trial. `regions` begin
  // at `places`, and every address of a launch is in one of them, or null.
  Expected<Trial> trial(const CudaCode* code, std::vector<TrialRegion> regions, std::span<const Address> places) const;

 private:
  // Neighbouring calls that can run at once: as one launch where there are several.
  struct WaveLaunch {
    size_t first, count;
    JointStep step;
    Function function;
  };
  // A word of the launches of a call that is the address of an input or output of the program.
  struct Place {
    uint32_t tensor;
    uint32_t call;
    size_t word;
  };

  Expected<void> load_joint(const CudaCode& code, WaveLaunch& wave) const;
  Expected<void> bind_kernel(size_t number, const DimValues& named);
  Expected<int64_t> bind_call(size_t k, const DimValues& roomy);
  bool is_needless(size_t k, size_t step) const;
  bool runs(size_t k, size_t step) const;
  bool is_one_launch(const WaveLaunch& wave) const;
  // One launch as it goes to the driver, of one call or of a wave.
  struct Ready {
    size_t call;  // the first
    const std::string* name;
    Function function;
    unsigned blocks, threads, shared;
    std::vector<uint64_t> arguments;
    std::vector<size_t> addresses;    // words of them
    const Launch* product = nullptr;  // that it is
  };
  using Visit = std::function<Expected<void>(const Ready&)>;
  Expected<void> visit_call(size_t k, const Visit& visit) const;
  Expected<void> visit_wave(const WaveLaunch& wave, const Visit& visit) const;
  void add_addresses(size_t call, size_t first, std::vector<size_t>& words) const;
  Expected<void> launch(const Ready& ready, bool early) const;

  const Program& program_;
  const CudaDevice& device_;
  LibraryLaunches products_;
  std::vector<std::vector<Function>> functions_;  // by kernel, by step
  std::vector<WaveLaunch> waves_;

  std::vector<std::vector<int64_t>> kernel_dims_;  // by kernel
  std::vector<size_t> first_size_;                 // by kernel: of its first step, in sizes_
  std::vector<int64_t> sizes_;
  std::vector<std::vector<Launch>> launches_;  // by call, by step
  std::vector<Place> input_places_, output_reads_, output_places_;
};

}  // namespace lumen::cuda
