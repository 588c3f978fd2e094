// Random graphs of primitives, with inputs for them. The same seed gives the same graph.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "lumen/ir/graph.h"

namespace lumen::testing {

struct RandomGraph {
  std::shared_ptr<Graph> graph;
  std::vector<HostTensor> inputs;
  DimValues dims;
};

RandomGraph make_random_graph(uint64_t seed);
// Floats are small whole numbers throughout, so that no op rounds: every way to compute the graph gives the same bits.
RandomGraph make_exact_graph(uint64_t seed);

}  // namespace lumen::testing
