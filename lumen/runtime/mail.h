// Small values on their way to memory that is not the host's, all in one copy.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "lumen/backend/buffer.h"

namespace lumen {

class Mail {
 public:
  static constexpr int64_t kMost = 16 << 10;  // bytes of a value

  void clear() { packed_.clear(); }
  // A value that send() copies; where it will be, as an offset.
  size_t add(const void* data, int64_t bytes);
  // The same place as before where values are as large as before, or nearly so.
  const std::byte* send(const std::shared_ptr<Memory>& memory);

 private:
  std::vector<std::byte> packed_;
  Buffer there_;
};

}  // namespace lumen
