// The e-graph stage of compilation, in one call: what to compute.
#pragma once

#include <memory>
#include <vector>

#include "lumen/search/cost.h"
#include "lumen/search/extract.h"
#include "lumen/search/saturate.h"

namespace lumen {

struct RewriteOptions {
  SaturateOptions saturate = {};
  size_t candidates = 4;
  OpCost cost = {};  // empty: roofline()
};

struct Rewritten {
  std::vector<Candidate> candidates;  // different programs for the graph, the cheapest first; never empty
  SaturateReport report;
};

// Equivalent programs of llir_stage(). The same graph and options give the same ones, unless time ran out (the report
// says so).
Expected<Rewritten> rewrite(const Graph& graph, const RewriteOptions& options = {});

}  // namespace lumen
