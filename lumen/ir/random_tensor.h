// Random inputs that are the same on every machine: they depend on the seed, the input's name and its type only.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

#include "lumen/ir/host_tensor.h"

namespace lumen {

struct ValueRange {
  double lo = 0;
  double hi = 0;  // included
};

// Floats: roughly normal, never 0 (positive for formats without a sign); in `range`: uniform. Integers: 0 or 1, which
// index any axis of two; in `range`: uniform. Bools: either.
HostTensor random_tensor(DType dtype, std::vector<int64_t> dims, std::string_view name, int64_t seed,
                         std::optional<ValueRange> range);

// Fills storage with such values: for buffers whose exact values do not matter, as it repeats after so many elements.
// Floats are multiplied by `scale`.
constexpr int64_t kRandomPeriod = 65'536;
void fill_random(DType dtype, std::span<std::byte> bytes, int64_t seed, double scale = 1,
                 std::optional<ValueRange> range = std::nullopt);

}  // namespace lumen
