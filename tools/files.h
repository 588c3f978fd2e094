// Reading text files and the graphs in them.
#pragma once

#include <memory>
#include <string>

#include "lumen/ir/graph.h"

namespace lumen::tools {

// "-" reads stdin.
Expected<std::string> read_text(const std::string& file);
// Parsed and verified as HLIR.
Expected<std::shared_ptr<Graph>> read_graph(const std::string& file);

}  // namespace lumen::tools
