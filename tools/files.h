// Text files, and the graphs in them.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "lumen/ir/graph.h"

namespace lumen::tools {

// "-" reads stdin.
Expected<std::string> read_text(const std::string& file);
// The file has this text, or is as it was.
Expected<void> write_text(const std::string& file, std::string_view text);
// Parsed and verified as HLIR.
Expected<std::shared_ptr<Graph>> read_graph(const std::string& file);

}  // namespace lumen::tools
