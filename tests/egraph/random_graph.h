// Random e-graphs for the extraction tests and benchmark: with cycles, sharing and varied costs.
#pragma once

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include "lumen/egraph/extract/flat_graph.h"

namespace lumen::egraph {

struct RandomGraphOptions {
  uint32_t classes = 12;
  uint32_t nodes_per_class = 3;  // at most
  uint32_t arity = 3;            // at most
  uint32_t costs = 10;           // 1 .. costs
  double leaves = 0.1;           // of the nodes, beyond class 0
  double back_edges = 0.2;       // children drawn from all classes, not only from earlier ones
};

// Class 0 is a leaf; the last class has a term. Only mt19937 itself is used: distributions differ between libraries.
inline FlatGraph random_graph(uint32_t seed, const RandomGraphOptions& options = {}) {
  std::mt19937 random(seed);
  const auto below = [&](uint32_t n) { return static_cast<uint32_t>(random() % n); };
  FlatGraph graph;
  for (uint32_t c = 0; c < options.classes; ++c) graph.add_class();
  for (uint32_t c = 0; c < options.classes; ++c) {
    const uint32_t count = 1 + below(options.nodes_per_class);
    for (uint32_t i = 0; i < count; ++i) {
      const bool leaf = c == 0 || below(1000) < options.leaves * 1000;
      std::vector<ClassId> children(leaf ? 0 : 1 + below(options.arity));
      for (ClassId& child : children) {
        // The first node of a class keeps it extractable.
        const bool back = i > 0 && below(1000) < options.back_edges * 1000;
        child = back ? below(options.classes) : c - 1 - below(std::min(c, 6u));
      }
      graph.add_node(c, children, 1 + below(options.costs));
    }
  }
  graph.finish();
  return graph;
}

}  // namespace lumen::egraph
