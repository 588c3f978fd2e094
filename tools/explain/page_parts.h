// The texts that the page is made of.
#pragma once

#include <string_view>

namespace lumen::tools {

extern const std::string_view kExplainStyle;
extern const std::string_view kExplainBody;
// In this order; the last one starts.
extern const std::string_view kExplainBasics;    // elements, numbers for people, tables that sort
extern const std::string_view kExplainLayout;    // where the nodes of a graph are drawn
extern const std::string_view kExplainGraph;     // the drawing
extern const std::string_view kExplainSource;    // from what runs to lines of the file
extern const std::string_view kExplainNode;      // the panel beside it
extern const std::string_view kExplainRoofline;  // kernels under the limits of the machine
extern const std::string_view kExplainKernels;   // overview and kernels
extern const std::string_view kExplainSearch;    // rules, candidates, classes
extern const std::string_view kExplainCompare;   // two programs
extern const std::string_view kExplainStart;     // tabs, state, keys

}  // namespace lumen::tools
