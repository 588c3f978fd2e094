#include "lumen/runtime/mail.h"

#include <algorithm>

#include "lumen/backend/bucket.h"

namespace lumen {

namespace {

constexpr size_t kAlign = 256;

}  // namespace

size_t Mail::add(const void* data, int64_t bytes) {
  const size_t offset = packed_.size();
  packed_.resize(offset + (static_cast<size_t>(bytes) / kAlign + 1) * kAlign);  // of nothing, too, it is a place
  std::copy_n(static_cast<const std::byte*>(data), bytes, packed_.data() + offset);
  return offset;
}

const std::byte* Mail::send(const std::shared_ptr<Memory>& memory) {
  const auto bytes = static_cast<int64_t>(packed_.size());
  if (bucket_of(bytes) != there_.bytes()) there_ = Buffer::make(memory, bucket_of(bytes)).value();
  memory->write(there_.data(), packed_.data(), bytes).value();
  return there_.data();
}

}  // namespace lumen
