// On the host: what a run brings back, the faults of its calls and its small outputs.
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

  // Enqueues copies of the words of faults, one for each call, and of outputs of so many bytes that are small: nobody
  // has to wait for them once more.
  Expected<void> fetch(const void* faults, std::span<void* const> outputs, std::span<const int64_t> bytes) const;

  struct Fault {
    size_t call;
    uint64_t number;  // from 1
  };
  // What came with the last run that has ended: of the first call that found one, and an output (null when not small).
  std::optional<Fault> fault() const;
  const std::byte* output(size_t k, int64_t bytes) const;

 private:
  RunRoom(std::shared_ptr<const CudaDevice> device, size_t calls) : device_(std::move(device)), calls_(calls) {}

  std::shared_ptr<const CudaDevice> device_;
  size_t calls_;
  std::byte* bytes_ = nullptr;  // pinned
};

}  // namespace lumen::cuda
