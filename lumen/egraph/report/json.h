// Reports as JSON.
#pragma once

#include <span>
#include <string>

#include "lumen/egraph/core/egraph.h"
#include "lumen/egraph/report/graph_view.h"

namespace lumen::egraph {

// The layout of the egraph-serialize crate, which extractors and visualisers read: "nodes", "root_eclasses" and
// "class_data". A node's children are nodes: the first of the class they stand for.
std::string graph_json(const GraphView& view);
std::string graph_json(EGraph& egraph, const ViewOptions& options = {});

// {"iterations": [...], "rules": [...]}: what became of every iteration given, and of every rule over all runs.
std::string report_json(const EGraph& egraph, std::span<const IterationReport> iterations);

// A string in JSON's quotes; what is not UTF-8 in it is replaced.
std::string json_string(const std::string& text);

}  // namespace lumen::egraph
