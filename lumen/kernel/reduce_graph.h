// Reducing: the smallest graph that still has a property, such as that it is compiled wrongly. What remains is short
// enough to read, and to keep as a test.
//
//   reduce_graph(graph, [&](const auto& smaller) { return !agrees(*smaller); })
//
// Delta debugging: outputs are dropped, values become inputs or one of their operands (many at once, then fewer, then
// one by one), outputs move to what they are made of, sizes shrink, until no single step keeps the property.
#pragma once

#include <functional>
#include <memory>

#include "lumen/ir/graph.h"

namespace lumen {

// Whether a graph has the property. It is asked of valid graphs only (llir_stage()), and never of the same one twice.
using Interesting = std::function<Expected<bool>(const std::shared_ptr<const Graph>&)>;

struct ReduceOptions {
  size_t tries = 10'000;  // graphs that are asked about, at most
  double seconds = 1e9;   // no graph is asked about after so long
  // After every graph: the smallest so far, and how many were tried.
  std::function<void(const std::shared_ptr<const Graph>&, size_t tried)> on_try = {};
};

struct Reduced {
  std::shared_ptr<const Graph> graph;
  size_t tried = 0;
  bool complete = false;  // no step makes it smaller; else a limit was reached
};

// An error when the graph itself is not interesting, or when asking fails.
Expected<Reduced> reduce_graph(std::shared_ptr<const Graph> graph, const Interesting& interesting,
                               const ReduceOptions& options = {});

}  // namespace lumen
