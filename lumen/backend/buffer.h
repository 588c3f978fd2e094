// Buffer: bytes at an address that suits every vector instruction and page-sized copies.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>

namespace lumen {

class Buffer {
 public:
  static constexpr size_t kAlign = 64;

  Buffer() = default;
  // Zeros; room for one element of any dtype even when `bytes` is 0.
  explicit Buffer(int64_t bytes);

  std::byte* data() const { return data_.get(); }
  int64_t bytes() const { return bytes_; }

 private:
  struct Free {
    void operator()(std::byte* data) const { std::free(data); }
  };
  std::unique_ptr<std::byte, Free> data_;
  int64_t bytes_ = 0;
};

}  // namespace lumen
