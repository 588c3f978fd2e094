// Linking: programs of parts of a graph, as one program of the graph.
#pragma once

#include "lumen/backend/program.h"

namespace lumen {

// `programs[k]` computes the body of `parts[k]`, which together are the graph, each after those it needs. Kernels of
// the same name are one.
Expected<Program> link(std::shared_ptr<const Graph> graph, std::span<const Carved> parts,
                       std::span<const Program* const> programs);

}  // namespace lumen
