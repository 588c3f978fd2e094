// The memory of a GPU, with a hard cap.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <mutex>
#include <vector>

#include "lumen/backend/cuda/driver.h"
#include "lumen/backend/memory.h"

namespace lumen::cuda {

// Copies and kernels of a GPU follow each other in one stream.
class CudaMemory : public Memory {
 public:
  // `most` bytes at a time; 0 for all that the GPU has.
  CudaMemory(std::shared_ptr<const Driver> driver, Context context, Stream stream, std::string device, int64_t most);
  ~CudaMemory() override;

  bool is_host() const override { return false; }
  Expected<std::byte*> allocate(int64_t bytes) override;
  void release(std::byte* data) override;
  // Small ones are copied aside at once and go with the stream: nobody waits.
  Expected<void> write(void* there, const void* here, int64_t bytes) override;
  Expected<void> read(void* here, const void* there, int64_t bytes) override;
  Expected<void> repeat(void* there, int64_t period, int64_t bytes) override;

  // Asked when the GPU has too little memory: whether some was given up, so that it is worth another try.
  void on_full(std::function<bool()> give_up_some) { give_up_some_ = std::move(give_up_some); }
  // From now on nothing is asked of the GPU: it would not answer. What is there stays until the process ends.
  void abandon() { abandoned_ = true; }

  int64_t used() const { return used_; }
  // Whether so many bytes more would be within the cap.
  bool has_room_for(int64_t bytes) const { return most_ == 0 || used_ + bytes <= most_; }
  int64_t most_used() const { return most_used_; }

 private:
  // Pinned memory: copies from and to it are fast, and need not be waited for.
  Expected<std::byte*> staging();
  Diag too_much(int64_t bytes) const;
  Expected<void> enter() const;

  std::shared_ptr<const Driver> driver_;
  Context context_;
  Stream stream_;
  std::string device_;
  int64_t most_;
  std::function<bool()> give_up_some_ = [] { return false; };
  std::mutex mutex_;
  std::map<std::byte*, int64_t> sizes_;
  int64_t used_ = 0, most_used_ = 0;
  std::atomic<bool> abandoned_ = false;
  std::byte* staging_ = nullptr;
  int64_t staged_ = 0;  // bytes of it that copies on their way use
};

}  // namespace lumen::cuda
