#include "lumen/backend/cuda/run_room.h"

#include <cstring>

namespace lumen::cuda {

namespace {

constexpr int64_t kSmallOutput = 1024;  // bytes

bool is_small(int64_t bytes) { return bytes > 0 && bytes <= kSmallOutput; }

}  // namespace

Expected<std::shared_ptr<const RunRoom>> RunRoom::make(std::shared_ptr<const CudaDevice> device, size_t calls,
                                                       size_t outputs) {
  std::shared_ptr<RunRoom> room(new RunRoom(std::move(device), calls));
  const Driver& driver = room->device_->driver();
  void* bytes = nullptr;
  const size_t size = (2 * calls + 1) * sizeof(uint64_t) + outputs * kSmallOutput;
  LUMEN_TRY(driver.check(driver.pinned_allocate(&bytes, size), "cuMemAllocHost"));
  room->words_ = static_cast<uint64_t*>(bytes);
  std::memset(bytes, 0, size);
  return std::shared_ptr<const RunRoom>(std::move(room));
}

RunRoom::~RunRoom() {
  if (words_ != nullptr && device_->enter().ok()) device_->driver().pinned_free(words_);
}

Expected<void> RunRoom::fetch_one(void* here, const void* there, size_t bytes) const {
  const Driver& driver = device_->driver();
  return driver.check(driver.copy_to_host(here, address(there), bytes, device_->stream()), "cuMemcpyDtoHAsync");
}

Expected<void> RunRoom::fetch(const void* faults, const void* ends) const {
  LUMEN_TRY(fetch_one(words_, faults, calls_ * sizeof(uint64_t)));
  return ends == nullptr ? Expected<void>() : fetch_one(words_ + calls_, ends, (calls_ + 1) * sizeof(uint64_t));
}

Expected<void> RunRoom::fetch_outputs(std::span<void* const> outputs, std::span<const int64_t> bytes) const {
  for (size_t k = 0; k < outputs.size(); ++k) {
    if (!is_small(bytes[k])) continue;
    LUMEN_TRY(fetch_one(const_cast<std::byte*>(output(k, bytes[k])), outputs[k], static_cast<size_t>(bytes[k])));
  }
  return {};
}

std::optional<RunRoom::Fault> RunRoom::fault() const {
  for (size_t k = 0; k < calls_; ++k) {
    if (words_[k] != 0) return Fault{k, words_[k]};
  }
  return std::nullopt;
}

const std::byte* RunRoom::output(size_t k, int64_t bytes) const {
  if (!is_small(bytes)) return nullptr;
  return reinterpret_cast<const std::byte*>(words_ + 2 * calls_ + 1) + k * static_cast<size_t>(kSmallOutput);
}

}  // namespace lumen::cuda
