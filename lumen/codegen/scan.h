// Scan kernels: running sums, products and maxima along an axis, with what is elementwise before and after. Rows are
// independent; where the axis is not the last one, many columns advance together. Sums and products of floats narrower
// than f64 are carried in f64.
#pragma once

#include <string>

#include "lumen/codegen/kernel_text.h"
#include "lumen/ir/graph.h"

namespace lumen {

// An error unless there is one Scan, and every output has its shape.
Expected<KernelText> print_scan(const Graph& body, const std::string& name);

}  // namespace lumen
