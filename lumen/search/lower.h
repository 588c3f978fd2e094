// Lowering: from a graph to a program of kernels.
#pragma once

#include <memory>

#include "lumen/backend/program.h"
#include "lumen/kernel/target.h"
#include "lumen/search/group.h"

namespace lumen::search {

// Every graph has a program: what no kernel kind computes is interpreted.
Expected<Program> lower(std::shared_ptr<const Graph> graph, FusionPolicy policy, const Target& target);

}  // namespace lumen::search
