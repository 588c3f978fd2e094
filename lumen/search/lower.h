// Lowering: from a graph to a program of kernels.
#pragma once

#include <memory>

#include "lumen/backend/program.h"
#include "lumen/search/group.h"
#include "lumen/search/tune.h"

namespace lumen::search {

struct Lowered {
  Program program;
  double seconds = 0;  // what its kernels take together, by the tuner
};

// Every graph has a program: what no kernel kind computes is interpreted.
Expected<Lowered> lower(std::shared_ptr<const Graph> graph, FusionPolicy policy, Tuner& tuner);

}  // namespace lumen::search
