// What a kernel takes at least: the larger of what it moves and what it computes, with what it computes again because
// its readers read it through views that repeat it.
#pragma once

#include "lumen/ir/graph.h"
#include "lumen/search/cost.h"

namespace lumen::search {

// Seconds, for a kernel of this body alone.
double estimate(const Graph& body, const DimValues& dims, const Machine& machine = {});

}  // namespace lumen::search
