// The command lines of generate, chat, embed and bench llm.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <optional>

#include "tools/language.h"

namespace lumen::tools {

struct LanguageArguments {
  GenerateArguments generate, chat;
  EmbedArguments embed;
  LlmBenchArguments bench;
  std::optional<int> threads;
};

// Both live until the command that was chosen has run.
using Chosen = std::function<Expected<int>()>;
void add_language_commands(CLI::App& app, LanguageArguments& arguments, Chosen& chosen);
void add_llm_bench(CLI::App& bench, LanguageArguments& arguments, Chosen& chosen);

}  // namespace lumen::tools
