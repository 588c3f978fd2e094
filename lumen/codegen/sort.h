// Sort kernels: the positions that sort the lines along an axis, with what is elementwise before, and after by
// position. Elements become integers in the same order, so that one stable sort of integers serves every dtype.
#pragma once

#include <string>

#include "lumen/codegen/kernel_text.h"
#include "lumen/ir/graph.h"
#include "lumen/kernel/target.h"

namespace lumen {

// An error unless there is one Sort, every output has its shape, and a line has fewer than 2^32 elements.
Expected<KernelText> print_sort(const Graph& body, const std::string& name);

// For a GPU: a block sorts a line in its shared memory. An error where print_sort must be used, too: lines that do not
// fit there, outputs that share bytes.
Expected<KernelText> print_cuda_sort(const Graph& body, const std::string& name, const Target& target);

}  // namespace lumen
