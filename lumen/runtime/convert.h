// Values that a user gives, as values of an input's dtype.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "lumen/ir/dtype.h"

namespace lumen {

// Changes lanes of f64, i64, u64 or bool into lanes of `to`. Floats round to a float dtype, but a finite one stays
// finite and NaN stays NaN; everything else is exact. The position of the first lane that cannot be converted is given
// back, with that lane left as it was.
std::optional<size_t> convert(DType from, DType to, std::span<Lane> lanes);

}  // namespace lumen
