// A name for people: "MaxReduce SumReduce Exp2 … -> f32[128,512]".
#pragma once

#include <string>

#include "lumen/ir/graph.h"

namespace lumen {

// The ops of a kernel's body, the weightiest first, and the type of its first output.
std::string kernel_title(const Graph& body);

}  // namespace lumen
