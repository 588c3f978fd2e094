// The options of `lumen debug` and `lumen reduce`.
#pragma once

#include "tools/commands.h"
#include "tools/language_options.h"

namespace lumen::tools {

void add_debug(CLI::App& app, DebugArguments& arguments, Chosen& chosen);
void add_reduce(CLI::App& app, ReduceArguments& arguments, Chosen& chosen);

}  // namespace lumen::tools
