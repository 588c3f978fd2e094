#include "lumen/import/storage_type.h"

namespace lumen {

std::string_view name(const StorageType& type) {
  return std::visit([](auto each) { return name(each); }, type);
}

std::optional<StorageType> parse_storage_type(std::string_view text) {
  if (const std::optional<DType> dtype = parse_dtype(text)) return *dtype;
  if (const std::optional<BlockType> block = parse_block_type(text)) return *block;
  return std::nullopt;
}

std::optional<int64_t> count_elements(std::span<const int64_t> dims) {
  int64_t count = 1;
  for (const int64_t dim : dims) {
    if (dim < 0 || __builtin_mul_overflow(count, dim, &count) || count > int64_t{1} << 56) return std::nullopt;
  }
  return count;
}

std::optional<int64_t> stored_bytes(const StorageType& type, std::span<const int64_t> dims) {
  const std::optional<int64_t> count = count_elements(dims);
  if (!count) return std::nullopt;
  if (const DType* const dtype = std::get_if<DType>(&type)) {
    if (*count * info(*dtype).bits % 8 != 0) return std::nullopt;
    return storage_bytes(*dtype, *count);
  }
  const BlockInfo& block = info(std::get<BlockType>(type));
  if (dims.empty() || dims.back() % block.elements != 0) return std::nullopt;
  return *count / block.elements * block.bytes;
}

}  // namespace lumen
