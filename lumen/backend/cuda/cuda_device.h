// A GPU of NVIDIA's as a Device.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "lumen/backend/cuda/cuda_memory.h"
#include "lumen/backend/cuda/driver.h"
#include "lumen/backend/cuda/kernel_compiler.h"
#include "lumen/backend/cuda/kernel_trials.h"
#include "lumen/backend/cuda/matrix_library.h"
#include "lumen/backend/device.h"

namespace lumen::cuda {

struct DeviceInfo {
  int number = 0;
  std::string name;  // "NVIDIA H200"
  int sm = 0;        // 90
  int multiprocessors = 0;
  int64_t memory_bytes = 0;
  int64_t l2_bytes = 0;
  int64_t shared_bytes = 0;  // that a block can have
};

// All GPUs of this machine. An error says why there is none: no driver, or one that is too old.
Expected<std::vector<DeviceInfo>> devices(const LibrarySearch& search = LibrarySearch::usual());

// Which of the libraries are here: "NVRTC 13.0, cuBLASLt, no nvJitLink".
std::string libraries_text(const LibrarySearch& search = LibrarySearch::usual());

class CudaDevice : public Device {
 public:
  // GPU number `number`. Its primary context is used, which is the one that PyTorch uses. `most_memory`: bytes, 0 for
  // all.
  static Expected<std::shared_ptr<CudaDevice>> open(int number, int64_t most_memory = 0,
                                                    const LibrarySearch& search = LibrarySearch::usual());
  ~CudaDevice() override;

  const std::string& name() const override { return name_; }
  const Target& target() const override { return target_; }
  std::string fingerprint() const override;
  std::string setting() const override { return "gpu"; }
  std::string compiler_version() const override { return compiler_.version(); }
  std::vector<std::string> needs() const override { return {architecture_name(info_.sm)}; }
  Expected<std::vector<Binary>> build(std::vector<Program> programs) const override;
  std::vector<std::vector<uint32_t>> launched_together(const Program& program) const override;
  Expected<std::shared_ptr<const Code>> load_code(std::string object) const override;
  Expected<std::unique_ptr<Executable>> load(Binary binary) const override;
  Expected<void> usable() const override;

  const Driver& driver() const { return *driver_; }
  const DeviceInfo& info() const { return info_; }
  // Null where there is none.
  const std::shared_ptr<const MatrixLibrary>& matrices() const { return matrices_; }
  Stream stream() const { return stream_; }
  const std::shared_ptr<Memory>& memory() const { return memory_; }
  // Whether a copy of so many bytes of this process's memory may be made elsewhere.
  bool has_room_for(int64_t bytes) const { return cuda_memory_->has_room_for(bytes); }
  KernelTrials& trials() const { return *trials_; }
  // Before calls of the driver, on any thread.
  Expected<void> enter() const;
  // Enqueues a pass over so much memory that nothing of what was there before is left in the GPU's cache. What is there
  // then needs no writing back.
  Expected<void> forget_cache() const;
  // Enqueues a note of the time of the GPU's clock, in nanoseconds.
  Expected<void> note_time(Address word) const;
  // What they need; before the first call, and not while work is captured. Only measuring and profiling do.
  Expected<void> make_sweep() const;
  Expected<void> make_clock() const;
  Expected<void> wait() const { return driver_->check(driver_->stream_wait(stream_), "cuStreamSynchronize"); }
  // The same for what may never end: after so many seconds the GPU is lost to this process, and that is an error.
  Expected<void> wait_for(double seconds) const;

 private:
  size_t sweep_bytes() const { return static_cast<size_t>(info_.l2_bytes) * 2 + 1024; }
  CudaDevice(std::shared_ptr<const Driver> driver, KernelCompiler compiler, DeviceInfo info);

  std::shared_ptr<const Driver> driver_;
  KernelCompiler compiler_;
  DeviceInfo info_;
  std::shared_ptr<const MatrixLibrary> matrices_;
  std::string name_;
  Target target_;
  Context context_ = nullptr;
  Stream stream_ = nullptr;
  std::shared_ptr<CudaMemory> cuda_memory_;
  std::shared_ptr<Memory> memory_;  // the same
  std::shared_ptr<KernelTrials> trials_;
  mutable std::atomic<bool> lost_ = false;
  std::weak_ptr<const CudaDevice> self_;
  Expected<Function> own_kernel(const char* text, const char* name) const;
  // What forget_cache() reads, and with what: of make_sweep().
  mutable Address swept_ = 0;
  mutable Function sweep_ = nullptr;
  mutable Function clock_ = nullptr;
};

}  // namespace lumen::cuda
