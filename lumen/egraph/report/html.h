// An e-graph as a page to look at.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "lumen/egraph/report/graph_view.h"

namespace lumen::egraph {

struct PageOptions {
  std::string title = "e-graph";
  ViewOptions view = {};                         // the extraction of its roots is highlighted
  std::vector<IterationReport> iterations = {};  // shown as a table
  bool facts = true;                             // what relations hold, as boxes of their own
  size_t max_nodes = 4000;                       // more are left out, those near the roots (or made first) are kept
};

// One HTML file that needs nothing else: classes as boxes with their nodes, edges from a node's arguments to classes,
// base values written where they are used, the cheapest program for the roots highlighted; pan, zoom, search; a click
// on a class lists its nodes and users; tables of rules and iterations that sort by a click on a heading. The fragment
// of the address sets the state: #tab=rules, #select=M-3, #search=Add, joined by &.
std::string html_page(EGraph& egraph, const PageOptions& options = {});

// The same for a graph that is not an EGraph's; no rules. `reports` is report_json's text.
std::string html_page(const GraphView& view, const PageOptions& options, const std::string& reports);

}  // namespace lumen::egraph
