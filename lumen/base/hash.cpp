#include "lumen/base/hash.h"

#include <bit>

namespace lumen {

uint64_t hash_bytes(std::span<const std::byte> bytes) {
  uint64_t state = Hasher(bytes.size()).value();
  size_t i = 0;
  while (i < bytes.size()) {
    // Assembled byte by byte so that the value does not depend on the machine's byte order; compilers make one load.
    uint64_t word = 0;
    for (unsigned shift = 0; shift < 64 && i < bytes.size(); shift += 8, ++i) {
      word |= std::to_integer<uint64_t>(bytes[i]) << shift;
    }
    state = hash_combine(state, word);
  }
  return state;
}

uint64_t hash_bytes(std::string_view bytes) { return hash_bytes(std::as_bytes(std::span(bytes.data(), bytes.size()))); }

Hasher& Hasher::add(double value) { return add(std::bit_cast<uint64_t>(value)); }

}  // namespace lumen
