// The interpreter as an Executable.
#pragma once

#include <memory>

#include "lumen/backend/executable.h"
#include "lumen/ir/graph.h"

namespace lumen {

std::unique_ptr<Executable> reference_executable(std::shared_ptr<const Graph> graph);

// Tensors as they are stored, in and out of the interpreter.
Expected<void> interpret_stored(const Graph& graph, std::span<const int64_t> dims, std::span<const void* const> inputs,
                                std::span<void* const> outputs);

}  // namespace lumen
