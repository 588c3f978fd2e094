// The bytes of a GGUF file as a Gguf: a cursor that never passes the end, and the checks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lumen/import/gguf.h"

namespace lumen {

class GgufParser {
 public:
  GgufParser(std::span<const std::byte> bytes, std::string_view path) : bytes_(bytes), path_(path) {}
  Expected<Gguf> parse();

 private:
  struct Place {
    uint64_t offset;  // into the data
    bool filled;      // with at least one element
    std::string name;
  };

  Diag bad(std::string_view text) const;
  size_t left() const { return bytes_.size() - at_; }
  // The next `count` bytes, which are `what` (for the message).
  Expected<std::span<const std::byte>> take(uint64_t count, std::string_view what);
  Expected<uint64_t> take_unsigned(int64_t width, std::string_view what);
  Expected<std::string> take_string(std::string_view what);

  Expected<void> parse_start();
  Expected<void> parse_metadata(uint64_t count);
  Expected<GgufValue> parse_value(const std::string& key);
  Expected<void> parse_elements(GgufValue& value, uint64_t count, const std::string& key);
  Expected<void> parse_tensors(uint64_t count);
  Expected<void> parse_alignment();
  Expected<void> place_tensors();
  Expected<uint64_t> place_tensor(const Place& place, std::span<const std::byte> data, uint64_t covered);

  std::span<const std::byte> bytes_;
  std::string path_;
  size_t at_ = 0;
  uint64_t tensor_count_ = 0, metadata_count_ = 0;
  std::vector<Place> places_;
  Gguf file_;
};

}  // namespace lumen
