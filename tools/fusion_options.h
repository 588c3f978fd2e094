// The command lines of fusion: the options that several commands share, and `lumen fusion`.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <optional>

#include "tools/fusion.h"

namespace lumen::tools {

// --fusion, --fusion-profile, --fusion-gates, --fusion-log.
void add_fusion(CLI::App& app, FusionArguments& arguments);

struct FusionCommandArguments {
  FusionProfileArguments profile;
  FusionBenchArguments bench;
  std::optional<int> threads;
};
// Both live until the command that was chosen has run.
void add_fusion_commands(CLI::App& app, FusionCommandArguments& arguments, std::function<Expected<int>()>& chosen);

}  // namespace lumen::tools
