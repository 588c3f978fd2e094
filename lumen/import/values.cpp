#include "lumen/import/values.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "lumen/import/blocks.h"

namespace lumen {

namespace {

constexpr size_t kRun = 8 * 1024;  // elements in wide lanes at a time: whole bytes for every dtype

template <class F>
void in_runs(DType dtype, size_t count, F f) {
  for (size_t first = 0; first < count; first += kRun) {
    const size_t run = std::min(kRun, count - first);
    f(first, run, static_cast<size_t>(storage_bytes(dtype, static_cast<int64_t>(first))),
      static_cast<size_t>(storage_bytes(dtype, static_cast<int64_t>(run))));
  }
}

}  // namespace

void read_values(const StorageType& type, std::span<const std::byte> bytes, std::span<float> values) {
  if (const BlockType* const block = std::get_if<BlockType>(&type)) return dequantise(*block, bytes, values);
  const DType dtype = std::get<DType>(type);
  if (dtype == DType::f32) {
    if (!values.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
    return;
  }
  std::vector<Lane> lanes(std::min(kRun, values.size()));
  in_runs(dtype, values.size(), [&](size_t first, size_t run, size_t from, size_t size) {
    unpack(dtype, bytes.subspan(from, size), std::span(lanes).first(run));
    for (size_t k = 0; k < run; ++k) {
      values[first + k] = is_float(dtype) ? static_cast<float>(lanes[k].f) : static_cast<float>(lanes[k].i);
    }
  });
}

Expected<void> store_values(const StorageType& type, std::span<const float> values, std::span<std::byte> bytes) {
  if (const BlockType* const block = std::get_if<BlockType>(&type)) return quantise(*block, values, bytes);
  const DType dtype = std::get<DType>(type);
  if (dtype == DType::f32) {
    if (!values.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
    return {};
  }
  std::vector<Lane> lanes(std::min(kRun, values.size()));
  size_t lost = values.size();
  in_runs(dtype, values.size(), [&](size_t first, size_t run, size_t to, size_t size) {
    for (size_t k = 0; k < run; ++k) {
      lanes[k].f = round_to(dtype, values[first + k]);
      if (std::isfinite(values[first + k]) && !std::isfinite(lanes[k].f)) lost = std::min(lost, first + k);
    }
    pack(dtype, std::span(lanes).first(run), bytes.subspan(to, size));
  });
  if (lost == values.size()) return {};
  return error(fmt::format("element {} is {}, which {} has no room for", lost, values[lost], name(dtype)));
}

}  // namespace lumen
