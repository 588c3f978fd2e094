#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "lumen/base/check.h"
#include "lumen/ir/dtype.h"
#include "lumen/ir/float_format.h"

namespace lumen {

static_assert(std::endian::native == std::endian::little, "storage is little-endian and read in place");

namespace {

template <class T, class FromStored>
void unpack_each(std::span<const std::byte> bytes, std::span<Lane> lanes, FromStored from) {
  for (size_t k = 0; k < lanes.size(); ++k) {
    T stored;
    std::memcpy(&stored, bytes.data() + k * sizeof(T), sizeof(T));
    lanes[k] = from(stored);
  }
}
template <class T, class ToStored>
void pack_each(std::span<const Lane> lanes, std::span<std::byte> bytes, ToStored to) {
  for (size_t k = 0; k < lanes.size(); ++k) {
    const T stored = to(lanes[k]);
    std::memcpy(bytes.data() + k * sizeof(T), &stored, sizeof(T));
  }
}

template <class T>
void unpack_ints(std::span<const std::byte> bytes, std::span<Lane> lanes) {
  unpack_each<T>(bytes, lanes, [](T stored) { return Lane{.i = static_cast<int64_t>(stored)}; });
}
template <class T>
void pack_ints(std::span<const Lane> lanes, std::span<std::byte> bytes) {
  pack_each<T>(lanes, bytes, [](Lane lane) { return static_cast<T>(lane.i); });
}

uint64_t encode(const DTypeInfo& format, Lane lane) {
  if (format.cls != DTypeClass::floating) {
    return static_cast<uint64_t>(lane.i) & ((uint64_t{1} << format.bits) - 1);  // i4, u4
  }
  return format.dtype == DType::f8ue8m0 ? encode_power(lane.f) : encode_float(format, lane.f);
}
Lane decode(const DTypeInfo& format, uint64_t bits) {
  if (format.cls != DTypeClass::floating) return {.i = wrap_to(format.dtype, static_cast<int64_t>(bits))};
  return {.f = format.dtype == DType::f8ue8m0 ? decode_power(static_cast<uint8_t>(bits)) : decode_float(format, bits)};
}

template <class T>
void unpack_floats(const DTypeInfo& format, std::span<const std::byte> bytes, std::span<Lane> lanes) {
  unpack_each<T>(bytes, lanes, [&](T stored) { return decode(format, stored); });
}
template <class T>
void pack_floats(const DTypeInfo& format, std::span<const Lane> lanes, std::span<std::byte> bytes) {
  pack_each<T>(lanes, bytes, [&](Lane lane) { return static_cast<T>(encode(format, lane)); });
}

void unpack_bit_string(const DTypeInfo& format, std::span<const std::byte> bytes, std::span<Lane> lanes) {
  const size_t bits = static_cast<size_t>(format.bits);
  for (size_t k = 0; k < lanes.size(); ++k) {
    const size_t byte = k * bits / 8, shift = k * bits % 8;
    uint32_t window = std::to_integer<uint32_t>(bytes[byte]);
    if (shift + bits > 8) window |= std::to_integer<uint32_t>(bytes[byte + 1]) << 8;
    lanes[k] = decode(format, (window >> shift) & ((1u << bits) - 1));
  }
}
void pack_bit_string(const DTypeInfo& format, std::span<const Lane> lanes, std::span<std::byte> bytes) {
  const size_t bits = static_cast<size_t>(format.bits);
  std::fill(bytes.begin(), bytes.end(), std::byte{0});
  for (size_t k = 0; k < lanes.size(); ++k) {
    const size_t byte = k * bits / 8, shift = k * bits % 8;
    const uint64_t window = encode(format, lanes[k]) << shift;
    bytes[byte] |= static_cast<std::byte>(window & 0xff);
    if (shift + bits > 8) bytes[byte + 1] |= static_cast<std::byte>(window >> 8);
  }
}

void copy_lanes(const void* from, void* to, size_t bytes) {
  if (bytes != 0) std::memcpy(to, from, bytes);
}

void check_sizes(DType dtype, size_t bytes, size_t lanes) {
  CHECK(bytes == static_cast<size_t>(storage_bytes(dtype, static_cast<int64_t>(lanes))),
        "as many bytes as the elements take");
}

}  // namespace

void unpack(DType dtype, std::span<const std::byte> bytes, std::span<Lane> lanes) {
  check_sizes(dtype, bytes.size(), lanes.size());
  const DTypeInfo& format = info(dtype);
  switch (dtype) {
    case f64:
    case i64:
    case u64:
      return copy_lanes(bytes.data(), lanes.data(), bytes.size());
    case f32:
      return unpack_each<uint32_t>(bytes, lanes, [&](uint32_t stored) {
        const float value = std::bit_cast<float>(stored);
        // The conversion would make a signalling NaN quiet.
        return Lane{.f = std::isnan(value) ? decode_float(format, stored) : static_cast<double>(value)};
      });
    case i32:
      return unpack_ints<int32_t>(bytes, lanes);
    case i16:
      return unpack_ints<int16_t>(bytes, lanes);
    case i8:
      return unpack_ints<int8_t>(bytes, lanes);
    case u32:
      return unpack_ints<uint32_t>(bytes, lanes);
    case u16:
      return unpack_ints<uint16_t>(bytes, lanes);
    case u8:
      return unpack_ints<uint8_t>(bytes, lanes);
    case bool_:
      return unpack_each<uint8_t>(bytes, lanes, [](uint8_t stored) { return Lane{.i = stored != 0}; });
    case tf32:
      return unpack_floats<uint32_t>(format, bytes, lanes);
    case f16:
    case bf16:
      return unpack_floats<uint16_t>(format, bytes, lanes);
    case f8e4m3:
    case f8e5m2:
    case f8ue8m0:
      return unpack_floats<uint8_t>(format, bytes, lanes);
    case f6e2m3:
    case f6e3m2:
    case f4e2m1:
    case i4:
    case u4:
      return unpack_bit_string(format, bytes, lanes);
  }
}

void pack(DType dtype, std::span<const Lane> lanes, std::span<std::byte> bytes) {
  check_sizes(dtype, bytes.size(), lanes.size());
  const DTypeInfo& format = info(dtype);
  switch (dtype) {
    case f64:
    case i64:
    case u64:
      return copy_lanes(lanes.data(), bytes.data(), bytes.size());
    case f32:
      return pack_each<uint32_t>(lanes, bytes, [&](Lane lane) {
        if (std::isnan(lane.f)) return static_cast<uint32_t>(encode_float(format, lane.f));
        return std::bit_cast<uint32_t>(static_cast<float>(lane.f));
      });
    case i32:
    case u32:
      return pack_ints<uint32_t>(lanes, bytes);
    case i16:
    case u16:
      return pack_ints<uint16_t>(lanes, bytes);
    case i8:
    case u8:
      return pack_ints<uint8_t>(lanes, bytes);
    case bool_:
      return pack_each<uint8_t>(lanes, bytes, [](Lane lane) { return static_cast<uint8_t>(lane.i != 0); });
    case tf32:
      return pack_floats<uint32_t>(format, lanes, bytes);
    case f16:
    case bf16:
      return pack_floats<uint16_t>(format, lanes, bytes);
    case f8e4m3:
    case f8e5m2:
    case f8ue8m0:
      return pack_floats<uint8_t>(format, lanes, bytes);
    case f6e2m3:
    case f6e3m2:
    case f4e2m1:
    case i4:
    case u4:
      return pack_bit_string(format, lanes, bytes);
  }
}

}  // namespace lumen
