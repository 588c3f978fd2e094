#include "lumen/text/protobuf.h"

#include <fmt/format.h>

namespace lumen::text {

Expected<uint64_t> ProtoReader::varint() {
  uint64_t value = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    if (at_ == bytes_.size()) return error(fmt::format("{}: truncated at byte {}", what_, at_));
    const auto byte = static_cast<unsigned char>(bytes_[at_++]);
    value |= static_cast<uint64_t>(byte & 0x7F) << shift;
    if (byte < 0x80) return value;
  }
  return error(fmt::format("{}: a number of more than 64 bits before byte {}", what_, at_));
}

Expected<std::string_view> ProtoReader::take(uint64_t size) {
  if (size > bytes_.size() - at_) {
    return error(fmt::format("{}: {} bytes at byte {}, {} are there", what_, size, at_, bytes_.size() - at_));
  }
  const std::string_view taken = bytes_.substr(at_, size);
  at_ += size;
  return taken;
}

Expected<bool> ProtoReader::next(ProtoField& field) {
  if (at_ == bytes_.size()) return false;
  const uint64_t key = LUMEN_TRY(varint());
  field = {};
  if (key >> 3 == 0 || key >> 3 > 0x1FFFFFFF)
    return error(fmt::format("{}: no field number before byte {}", what_, at_));
  field.number = static_cast<uint32_t>(key >> 3);
  const auto fixed = [&](uint64_t size) -> Expected<void> {
    const std::string_view bytes = LUMEN_TRY(take(size));
    for (size_t k = 0; k < bytes.size(); ++k) {
      field.integer |= static_cast<uint64_t>(static_cast<unsigned char>(bytes[k])) << 8 * k;
    }
    return {};
  };
  switch (key & 7) {
    case 0:
      field.integer = LUMEN_TRY(varint());
      break;
    case 1:
      LUMEN_TRY(fixed(8));
      break;
    case 2:
      field.bytes = LUMEN_TRY(take(LUMEN_TRY(varint())));
      break;
    case 5:
      LUMEN_TRY(fixed(4));
      break;
    default:
      return error(fmt::format("{}: wire type {} before byte {}", what_, key & 7, at_));
  }
  return true;
}

}  // namespace lumen::text
