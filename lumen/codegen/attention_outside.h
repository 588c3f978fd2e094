// What is the same for all keys of a row, outside the sum over the keys: Contract(e*r, v) is r * Contract(e, v), and a
// choice of zeros for whole rows is made after the sum.
#pragma once

#include <memory>

#include "lumen/ir/graph.h"

namespace lumen {

// The body with factors and choices of zeros moved out of the second of its two Contracts, as far as they stand in the
// way; the body itself when there is nothing to move.
std::shared_ptr<Graph> with_row_factors_outside(const Graph& body);

}  // namespace lumen
