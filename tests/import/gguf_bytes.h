// GGUF files made byte by byte, right or wrong in one place.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace lumen::testing {

inline std::string little(uint64_t value, size_t width) {
  std::string text;
  for (size_t k = 0; k < width; ++k) text += static_cast<char>(value >> 8 * k);
  return text;
}
inline std::string u32(uint64_t value) { return little(value, 4); }
inline std::string u64(uint64_t value) { return little(value, 8); }
inline std::string counted(std::string_view text) { return u64(text.size()) + std::string(text); }

inline std::string gguf_start(uint64_t tensors, uint64_t values, uint32_t version = 3) {
  return "GGUF" + u32(version) + u64(tensors) + u64(values);
}
// A metadata value: type 4 is u32, 8 a string, 9 an array.
inline std::string gguf_u32(std::string_view key, uint32_t value) { return counted(key) + u32(4) + u32(value); }
inline std::string gguf_string(std::string_view key, std::string_view value) {
  return counted(key) + u32(8) + counted(value);
}
// A tensor's description; dims as the file has them, the innermost first. Type 0 is F32, 8 is Q8_0.
inline std::string gguf_tensor(std::string_view name, std::initializer_list<uint64_t> dims, uint32_t type,
                               uint64_t offset) {
  std::string text = counted(name) + u32(dims.size());
  for (const uint64_t dim : dims) text += u64(dim);
  return text + u32(type) + u64(offset);
}
inline std::string padded(std::string text, size_t alignment = 32) {
  text.append((alignment - text.size() % alignment) % alignment, '\0');
  return text;
}

}  // namespace lumen::testing
