#include "lumen/backend/cuda/cuda_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace lumen::cuda {

namespace {

constexpr int64_t kStaging = 4 << 20;
constexpr int64_t kSmall = 64 << 10;  // written without waiting
constexpr int64_t kAlign = 256;

}  // namespace

CudaMemory::CudaMemory(std::shared_ptr<const Driver> driver, Context context, Stream stream, std::string device,
                       int64_t most)
    : driver_(std::move(driver)), context_(context), stream_(stream), device_(std::move(device)), most_(most) {}

CudaMemory::~CudaMemory() {
  if (staging_ != nullptr && !abandoned_) driver_->pinned_free(staging_);
}

Expected<void> CudaMemory::enter() const {
  if (abandoned_) return error(fmt::format("[cuda] this process has lost {}", device_));
  return driver_->check(driver_->context_set(context_), "cuCtxSetCurrent");
}

Diag CudaMemory::too_much(int64_t bytes) const {
  size_t free = 0, total = 0;
  driver_->memory_info(&free, &total);
  const std::string cap = most_ > 0 ? fmt::format(", of which {} MiB may be used", most_ >> 20) : "";
  return error(
      fmt::format("[cuda] out of memory: {} MiB more are needed on {}, which has {} MiB{}; {} MiB are in use "
                  "here and {} MiB are free",
                  bytes >> 20, device_, total >> 20, cap, used_ >> 20, free >> 20));
}

Expected<std::byte*> CudaMemory::allocate(int64_t bytes) {
  const std::scoped_lock lock(mutex_);
  const int64_t rounded = (bytes / kAlign + 1) * kAlign;
  if (most_ > 0 && used_ + rounded > most_) return too_much(rounded);
  LUMEN_TRY(enter());
  Address data = 0;
  Result result = driver_->memory_allocate(&data, static_cast<size_t>(rounded));
  if (result == kOutOfMemory && give_up_some_()) {
    result = driver_->memory_allocate(&data, static_cast<size_t>(rounded));
  }
  if (result == kOutOfMemory) return too_much(rounded);
  LUMEN_TRY(driver_->check(result, "cuMemAlloc"));
  auto* const place = reinterpret_cast<std::byte*>(data);
  sizes_[place] = rounded;
  used_ += rounded;
  most_used_ = std::max(most_used_, used_);
  LUMEN_TRY(driver_->check(driver_->fill(data, 0, static_cast<size_t>(rounded), stream_), "cuMemsetD8Async"));
  return place;
}

void CudaMemory::release(std::byte* data) {
  const std::scoped_lock lock(mutex_);
  if (enter().ok()) driver_->memory_free(address(data));
  const auto found = sizes_.find(data);
  used_ -= found->second;
  sizes_.erase(found);
}

Expected<std::byte*> CudaMemory::staging() {
  if (staging_ != nullptr) return staging_;
  void* data = nullptr;
  LUMEN_TRY(driver_->check(driver_->pinned_allocate(&data, static_cast<size_t>(kStaging)), "cuMemAllocHost"));
  return staging_ = static_cast<std::byte*>(data);
}

Expected<void> CudaMemory::write(void* there, const void* here, int64_t bytes) {
  if (bytes == 0) return {};
  const std::scoped_lock lock(mutex_);
  LUMEN_TRY(enter());
  const auto size = static_cast<size_t>(bytes);
  if (bytes > kSmall) {
    LUMEN_TRY(driver_->check(driver_->copy_to_device(address(there), here, size, stream_), "cuMemcpyHtoDAsync"));
    return driver_->check(driver_->stream_wait(stream_), "cuStreamSynchronize");
  }
  if (staged_ + bytes > kStaging) {
    LUMEN_TRY(driver_->check(driver_->stream_wait(stream_), "cuStreamSynchronize"));
    staged_ = 0;
  }
  std::byte* const aside = LUMEN_TRY(staging()) + staged_;
  std::memcpy(aside, here, size);
  staged_ += (bytes + kAlign - 1) / kAlign * kAlign;
  return driver_->check(driver_->copy_to_device(address(there), aside, size, stream_), "cuMemcpyHtoDAsync");
}

Expected<void> CudaMemory::repeat(void* there, int64_t period, int64_t bytes) {
  const std::scoped_lock lock(mutex_);
  LUMEN_TRY(enter());
  for (int64_t done = period; done > 0 && done < bytes; done *= 2) {
    const auto size = static_cast<size_t>(std::min(done, bytes - done));
    LUMEN_TRY(driver_->check(
        driver_->copy_on_device(address(there) + static_cast<Address>(done), address(there), size, stream_),
        "cuMemcpyDtoDAsync"));
  }
  return {};
}

Expected<void> CudaMemory::read(void* here, const void* there, int64_t bytes) {
  if (bytes == 0) return {};
  const std::scoped_lock lock(mutex_);
  LUMEN_TRY(enter());
  std::byte* const aside = LUMEN_TRY(staging());
  for (int64_t done = 0; done < bytes; done += kStaging) {
    const auto size = static_cast<size_t>(std::min(kStaging, bytes - done));
    LUMEN_TRY(driver_->check(driver_->copy_to_host(aside, address(there) + static_cast<Address>(done), size, stream_),
                             "cuMemcpyDtoHAsync"));
    LUMEN_TRY(driver_->check(driver_->stream_wait(stream_), "cuStreamSynchronize"));
    std::memcpy(static_cast<std::byte*>(here) + done, aside, size);
  }
  staged_ = 0;  // the stream is empty
  return {};
}

}  // namespace lumen::cuda
