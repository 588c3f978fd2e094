// compile(): from a graph to something that runs.
#pragma once

#include "lumen/ir/graph.h"
#include "lumen/runtime/session.h"

namespace lumen {

// The graph is copied: what is added to it later is not in the Session. Throws lumen::Error when it is not valid.
Session compile(const Graph& graph);

}  // namespace lumen
