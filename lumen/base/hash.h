// Deterministic 64-bit hashing: the same value on every machine, in every run, for ever (it keys files on disk).
// std::hash promises none of that and is not used in Lumen.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>

namespace lumen {

// A bijection that spreads every input bit over the whole word.
constexpr uint64_t hash_mix(uint64_t x) {
  x ^= x >> 32;
  x *= 0xe9846af9b1a615d;
  x ^= x >> 32;
  x *= 0xe9846af9b1a615d;
  x ^= x >> 28;
  return x;
}

// Depends on the order: hash_combine(a, b) != hash_combine(b, a).
constexpr uint64_t hash_combine(uint64_t seed, uint64_t value) {
  return hash_mix(seed + 0x9e3779b97f4a7c15 + hash_mix(value));
}

// `bytes`, in little-endian words, and their count.
uint64_t hash_bytes(std::span<const std::byte> bytes);
uint64_t hash_bytes(std::string_view bytes);

// Feeds values in order: Hasher().add(3).add("name").value(). A string is added with its length, so that
// {"ab", "c"} and {"a", "bc"} differ.
class Hasher {
 public:
  constexpr explicit Hasher(uint64_t seed = 0) : state_(hash_mix(seed + 0x9e3779b97f4a7c15)) {}

  // Any integer, enum or bool; a signed value is hashed as its two's complement in 64 bits.
  template <class T>
  requires std::integral<T> || std::is_enum_v<T>
  constexpr Hasher& add(T value) {
    if constexpr (std::is_enum_v<T>) {
      return add(static_cast<std::underlying_type_t<T>>(value));
    } else {
      state_ = hash_combine(state_, static_cast<uint64_t>(value));
      return *this;
    }
  }
  Hasher& add(double value);  // by its bits: -0.0 and 0.0 differ
  Hasher& add(std::string_view text) { return add(hash_bytes(text)); }
  Hasher& add(const char* text) { return add(std::string_view(text)); }
  Hasher& add(std::span<const std::byte> bytes) { return add(hash_bytes(bytes)); }

  constexpr uint64_t value() const { return state_; }

 private:
  uint64_t state_;
};

}  // namespace lumen
