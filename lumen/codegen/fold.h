// Fold kernels: reductions along one axis, with whatever is elementwise before, between and after them. A row is read
// as often as reductions depend on each other, and once more to write results as long as itself: softmax takes three
// loops over a row that stays in the nearest cache.
#pragma once

#include <string>

#include "lumen/codegen/kernel_text.h"
#include "lumen/ir/graph.h"

namespace lumen {

// An error when there is no reduction, two reductions are not over the same rows, or an output is neither a value by
// row nor by element of the rows.
Expected<KernelText> print_fold(const Graph& body, const std::string& name);

}  // namespace lumen
