// What the commands over language models share: options, and loading.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lumen/compile.h"
#include "models/decoder.h"
#include "models/generator.h"
#include "models/model_files.h"

namespace lumen::tools {

struct ModelArguments {
  std::string path;
  bool random_weights = false;
  std::string dtype;        // empty: what the file says
  int64_t max_context = 0;  // 0: the model's, 4096 at most
};

struct SamplingArguments {
  models::GenerateOptions generate;
  std::vector<std::string> logit_bias;  // TOKEN=BIAS
};

// A model that is ready to read, and what that took.
struct LanguageModel {
  models::ModelFiles files;  // outlives what is bound to it
  models::Model model;
  std::optional<Session> session;
  CompileReport report;
  double load_seconds = 0, search_seconds = 0;
};

// `session` is filled; progress is shown while that takes long.
Expected<std::unique_ptr<LanguageModel>> load_model(const ModelArguments& arguments);

// Tokens that end a text, by config.json or generation_config.json's way of saying them.
std::vector<int32_t> end_tokens(const std::string& config);
Expected<Tokenizer> need_tokenizer(const LanguageModel& model);
Expected<models::GenerateOptions> generate_options(const SamplingArguments& arguments);

// Lines for stderr: load, search, first token, tokens per second, memory.
std::string statistics_text(const LanguageModel& model, size_t prompt_tokens, const models::GenerateResult& result);

struct GenerateArguments {
  ModelArguments model;
  SamplingArguments sampling;
  std::string prompt;
  std::string prompt_file;
  std::string system;  // chat: what the model is told first
  bool raw = false;    // the prompt as it is, without begin token
};
Expected<int> generate_text(const GenerateArguments& arguments);
Expected<int> chat_with_model(const GenerateArguments& arguments);

struct EmbedArguments {
  ModelArguments model;
  std::vector<std::string> texts;  // none: the lines of stdin
};
Expected<int> embed_texts(const EmbedArguments& arguments);

struct LlmBenchArguments {
  ModelArguments model;
  std::string prompts = "128,512";  // lengths
  int64_t tokens = 64;
  int64_t rounds = 3;
  std::string json;
  bool profile = false;
};
Expected<int> bench_language_model(const LlmBenchArguments& arguments);

}  // namespace lumen::tools
