// Map kernels: every element of every output is computed on its own.
#pragma once

#include <string>

#include "lumen/codegen/kernel_text.h"
#include "lumen/ir/graph.h"

namespace lumen {

struct MapSchedule {
  bool pieces = false;  // for a GPU: a thread takes what it loads at once, and no more
  bool full = false;    // with as few registers as let a multiprocessor have all the threads it can
};

// An error when an op of the body is not elementwise, or the outputs differ in shape.
Expected<KernelText> print_map(const Graph& body, const std::string& name, const MapSchedule& schedule = {});

// In pieces, with few registers. An error where there is little to do.
Expected<KernelText> print_cuda_full_map(const Graph& body, const std::string& name);

}  // namespace lumen
