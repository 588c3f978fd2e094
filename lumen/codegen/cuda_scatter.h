// Scatter kernels for a GPU: every slice has a block of its own, which leaves its place to a later slice of the same
// index. For Scatters that set; what adds needs an order that blocks do not have, and is left to scatter.h.
#pragma once

#include <string>

#include "lumen/codegen/kernel_text.h"
#include "lumen/ir/graph.h"

namespace lumen {

// An error where print_scatter must be used: another mode, elements that share bytes, more slices than can be compared.
Expected<KernelText> print_cuda_scatter(const Graph& body, const std::string& name);

}  // namespace lumen
