// The k cheapest terms by tree cost.
#pragma once

#include <span>
#include <vector>

#include "lumen/egraph/extract/term.h"
#include "lumen/egraph/extract/tree.h"

namespace lumen::egraph {

struct RankedTerms {
  std::vector<TermId> roots;  // one term per root
  Cost cost = 0;              // of them together
};

// At most k different programs, cheapest first. Where the graph has cycles a term may pass through a class again:
// (+ (+ x 0) 0) counts as another program than (+ x 0).
std::vector<RankedTerms> k_best_terms(const FlatGraph& graph, std::span<const ClassId> roots, size_t k, Terms& terms,
                                      const NodeNamer& name, const TreeOptions& options = {});

}  // namespace lumen::egraph
