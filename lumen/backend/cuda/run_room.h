// On the host: what a run brings back, the faults of its calls, when they ended, and its small outputs.
#pragma once

#include <memory>
#include <optional>
#include <span>

#include "lumen/backend/cuda/cuda_device.h"

namespace lumen::cuda {

class RunRoom {
 public:
  static Expected<std::shared_ptr<const RunRoom>> make(std::shared_ptr<const CudaDevice> device, size_t calls,
                                                       size_t outputs);
  ~RunRoom();
  RunRoom(const RunRoom&) = delete;
  RunRoom& operator=(const RunRoom&) = delete;

  // Enqueues copies of the words of faults, one for each call, and of those of ends and of the start behind them (null:
  // of a run that notes none).
  Expected<void> fetch(const void* faults, const void* ends) const;
  // And of outputs of so many bytes that are small, or none: nobody has to wait for them once more.
  Expected<void> fetch_outputs(std::span<void* const> outputs, std::span<const int64_t> bytes) const;

  struct Fault {
    size_t call;
    uint64_t number;  // from 1
  };
  // What came with the last run that has ended: of the first call that found one, and an output (null when not small).
  std::optional<Fault> fault() const;
  const std::byte* output(size_t k, int64_t bytes) const;
  std::span<const uint64_t> ends() const { return {words_ + calls_, calls_}; }
  uint64_t start() const { return words_[2 * calls_]; }

 private:
  Expected<void> fetch_one(void* here, const void* there, size_t bytes) const;
  RunRoom(std::shared_ptr<const CudaDevice> device, size_t calls) : device_(std::move(device)), calls_(calls) {}

  std::shared_ptr<const CudaDevice> device_;
  size_t calls_;
  uint64_t* words_ = nullptr;  // pinned: of faults, of ends, the start, then the outputs
};

}  // namespace lumen::cuda
