// Scatter kernels: x with slices of a source combined into it, with what is elementwise before each operand. Threads
// share the places that are written, not the slices that are read, so every place sees its slices in order.
#pragma once

#include <optional>
#include <string>

#include "lumen/codegen/kernel_text.h"
#include "lumen/ir/graph.h"

namespace lumen {

// An error unless the body's one output is its one Scatter. It works in place where x is an input that nothing else
// reads.
Expected<KernelText> print_scatter(const Graph& body, const std::string& name);

// The body's Scatter, if it is as above.
Expected<NodeId> find_scatter(const Graph& body);
// The input that is the Scatter's x as it lies, and is nothing else.
std::optional<uint32_t> input_of_x(const Graph& body, NodeId scatter);

}  // namespace lumen
