// The e-graph stage of compilation, in one call: what to compute.
#pragma once

#include <memory>
#include <vector>

#include "lumen/search/classes.h"
#include "lumen/search/cost.h"
#include "lumen/search/extract.h"
#include "lumen/search/saturate.h"

namespace lumen {

struct RewriteOptions {
  SaturateOptions saturate = {};
  Machine machine = {};
  DimValues dims = {};    // sizes to expect; see roofline()
  size_t candidates = 4;  // at most
  bool classes = false;   // keep what the candidates were taken from
};

struct Rewritten {
  std::vector<Candidate> candidates;  // different programs for the graph, the cheapest first; never empty
  SaturateReport report;
  ClassesRecord classes;  // when asked for
};

// Equivalent programs of llir_stage(): the cheapest on the machine, then what is cheapest if parts of a program cost
// more or less than the roofline says, because they are fused or not. These differ where it matters; the second best
// program by the same cost differs from the best in a detail. The same graph and options give the same ones, unless
// time ran out (the report says so).
Expected<Rewritten> rewrite(const Graph& graph, const RewriteOptions& options = {});

}  // namespace lumen
