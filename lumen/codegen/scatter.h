// Scatter kernels: x with slices of a source combined into it, with what is elementwise before each operand. Threads
// share the places that are written, not the slices that are read, so every place sees its slices in order.
#pragma once

#include <string>

#include "lumen/codegen/kernel_text.h"
#include "lumen/ir/graph.h"

namespace lumen {

struct ScatterSchedule {
  bool in_place = false;  // the output's buffer holds x already
};

// An error unless the body's one output is its one Scatter; or when it is to be in place and has to carry more bits
// than are stored (sums and products of floats narrower than f32).
Expected<KernelText> print_scatter(const Graph& body, const std::string& name, const ScatterSchedule& schedule = {});

}  // namespace lumen
