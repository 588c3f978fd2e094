// Text files, stdin and stdout where they are called "-", and the graphs in them.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "lumen/ir/graph.h"
#include "lumen/ir/text.h"

namespace lumen::tools {

// "-" reads stdin.
Expected<std::string> read_text(const std::string& file);
// The file has this text, or is as it was. "-", which check_writable has seen, is stdout.
Expected<void> write_text(const std::string& file, std::string_view text);
// Whether there is a folder for it. Before anything runs: minutes of measuring must not end in a message about a name.
// "-" takes stdout for that file: all else that the program prints goes to stderr from here on.
Expected<void> check_writable(const std::string& file);
// For what is no text, or goes where the program's text goes: "-" is an error, that `option` has to name a file.
Expected<void> refuse_stdout(std::string_view option, const std::string& file);
// Whether all that was printed has arrived. At the end of the program.
Expected<void> finish_stdout();
// Parsed and verified: as it is written, or as the search left it.
Expected<std::shared_ptr<Graph>> read_any_graph(const std::string& file);
// Parsed and verified as HLIR; `statements` as parse() gives them.
Expected<std::shared_ptr<Graph>> read_graph(const std::string& file, std::vector<Statement>* statements = nullptr);

}  // namespace lumen::tools
