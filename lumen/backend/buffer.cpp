#include "lumen/backend/buffer.h"

#include <cstring>
#include <new>

namespace lumen {

Buffer::Buffer(int64_t bytes) : bytes_(bytes) {
  const size_t rounded = (static_cast<size_t>(bytes) / kAlign + 1) * kAlign;
  data_.reset(static_cast<std::byte*>(std::aligned_alloc(kAlign, rounded)));
  if (data_ == nullptr) throw std::bad_alloc();
  std::memset(data_.get(), 0, rounded);
}

}  // namespace lumen
