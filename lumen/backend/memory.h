// Memory: where the tensors of an Executable live. The host's can be read and written as it is; another's only through
// this.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "lumen/base/expected.h"

namespace lumen {

class Memory {
 public:
  virtual ~Memory() = default;

  virtual bool is_host() const = 0;
  // Zeros; aligned for any element, and room for one even when `bytes` is 0. An error says how much there was.
  virtual Expected<std::byte*> allocate(int64_t bytes) = 0;
  virtual void release(std::byte* data) = 0;
  // Between here and there; done when they return.
  virtual Expected<void> write(void* there, const void* here, int64_t bytes) = 0;
  virtual Expected<void> read(void* here, const void* there, int64_t bytes) = 0;
  // The first `period` bytes there, over and over, up to `bytes`.
  virtual Expected<void> repeat(void* there, int64_t period, int64_t bytes) = 0;
};

const std::shared_ptr<Memory>& host_memory();

}  // namespace lumen
