#include "lumen/egraph/core/kept_matches.h"

#include <cstring>

namespace lumen::egraph {

namespace {

// How a value is packed: two bits, four of them in a byte before the bytes of the values.
enum Code : uint8_t { kSame, kByte, kTwoBytes, kWhole };

size_t code_bytes(size_t width) { return (width + 3) / 4; }

// A small number for a small difference either way.
uint32_t packed_difference(Value from, Value to) {
  const uint32_t d = to - from;
  return (d << 1) ^ (0u - (d >> 31));
}
Value with_difference(Value from, uint32_t packed) { return from + ((packed >> 1) ^ (0u - (packed & 1))); }

}  // namespace

void KeptMatches::add(std::span<const Value> matches, size_t width, size_t count) {
  if (count_ == 0) {
    width_ = width;
    last_.assign(width, 0);
  }
  count_ += count;
  const size_t most = code_bytes(width) + width * sizeof(Value);
  for (size_t i = 0; i < matches.size(); i += width) {
    const size_t before = packed_.size();
    uint8_t* codes = packed_.append(most);
    uint8_t* at = codes + code_bytes(width);
    std::memset(codes, 0, code_bytes(width));
    for (size_t v = 0; v < width; ++v) {
      const Value value = matches[i + v];
      const uint32_t d = packed_difference(last_[v], value);
      last_[v] = value;
      const Code code = d == 0 ? kSame : d < 0x100 ? kByte : d < 0x10000 ? kTwoBytes : kWhole;
      codes[v / 4] = static_cast<uint8_t>(codes[v / 4] | code << (v % 4 * 2));
      std::memcpy(at, &d, sizeof d);  // all four bytes: there is room, and what follows overwrites
      at += code == kWhole ? 4 : static_cast<int>(code);
    }
    packed_.resize(before + static_cast<size_t>(at - codes));
  }
}

void KeptMatches::Reader::read(std::span<Value> match) {
  const uint8_t* codes = at;
  at += code_bytes(match.size());
  for (size_t v = 0; v < match.size(); ++v) {
    const uint32_t code = codes[v / 4] >> (v % 4 * 2) & 3;
    const size_t bytes = code == kWhole ? 4 : code;
    uint32_t d = 0;
    std::memcpy(&d, at, bytes);
    at += bytes;
    match[v] = last[v] = with_difference(last[v], d);
  }
}

void KeptMatches::clear() {
  packed_.clear();
  count_ = 0;
}

}  // namespace lumen::egraph
