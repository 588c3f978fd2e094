// A reader of protobuf's wire format: the fields of one message, in the order in which they stand.
#pragma once

#include <bit>
#include <cstdint>
#include <string_view>

#include "lumen/base/expected.h"

namespace lumen::text {

struct ProtoField {
  uint32_t number = 0;
  uint64_t integer = 0;    // of a varint or a fixed number
  std::string_view bytes;  // of a string, bytes or a message

  float as_float() const { return std::bit_cast<float>(static_cast<uint32_t>(integer)); }
};

class ProtoReader {
 public:
  // `bytes` must outlive the fields; `what` is for messages.
  ProtoReader(std::string_view bytes, std::string_view what) : bytes_(bytes), what_(what) {}

  // False at the end. An error for what is truncated or has a wire type that is no longer used.
  Expected<bool> next(ProtoField& field);

 private:
  Expected<uint64_t> varint();
  Expected<std::string_view> take(uint64_t size);

  std::string_view bytes_;
  std::string_view what_;
  size_t at_ = 0;
};

}  // namespace lumen::text
