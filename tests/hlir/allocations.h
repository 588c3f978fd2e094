// The largest piece of memory that this program has asked for.
#pragma once

#include <cstddef>

namespace lumen::testing {

// Since the last call, in bytes.
size_t take_largest_allocation();

}  // namespace lumen::testing
