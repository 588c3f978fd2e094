// Random inputs that are the same on every machine: they depend on the seed, the input's name and its type only.
#pragma once

#include <optional>
#include <string_view>

#include "lumen/ir/host_tensor.h"

namespace lumen::tools {

struct Range {
  double lo = 0;
  double hi = 0;  // included
};

// Floats: roughly normal, never 0 (positive for formats without a sign); in `range`: uniform. Integers: 0 or 1, which
// index any axis of two; in `range`: uniform. Bools: either.
HostTensor random_tensor(DType dtype, std::vector<int64_t> dims, std::string_view name, int64_t seed,
                         std::optional<Range> range);

}  // namespace lumen::tools
