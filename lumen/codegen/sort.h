// Sort kernels: the positions that sort the lines along an axis, with what is elementwise before, and after by
// position. Elements become integers in the same order, so that one stable sort of integers serves every dtype.
#pragma once

#include <string>

#include "lumen/codegen/kernel_text.h"
#include "lumen/ir/graph.h"

namespace lumen {

// An error unless there is one Sort, every output has its shape, and a line has fewer than 2^32 elements.
Expected<KernelText> print_sort(const Graph& body, const std::string& name);

}  // namespace lumen
