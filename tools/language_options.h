// The command lines of what takes a language model: generate, chat, embed, bench llm, profile.
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
  ProfileArguments profile;
  ExplainArguments explain;
  std::optional<int> threads;
};

// Both live until the command that was chosen has run.
using Chosen = std::function<Expected<int>()>;
void add_trace(CLI::App& app, std::string& file);
// For an option where an empty text would be taken for none.
CLI::Validator some_text();
void add_model(CLI::App& app, ModelArguments& model, std::optional<int>& threads, bool is_required = true);
// LUMEN_THREADS is read once, by flags(), after the options are parsed.
void use_threads(const std::optional<int>& threads);
void add_language_commands(CLI::App& app, LanguageArguments& arguments, Chosen& chosen);
void add_profile(CLI::App& app, LanguageArguments& arguments, Chosen& chosen);
void add_explain(CLI::App& app, LanguageArguments& arguments, Chosen& chosen);
void add_llm_bench(CLI::App& bench, LanguageArguments& arguments, Chosen& chosen);

}  // namespace lumen::tools
