// What the commands over language models share: options, and loading.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lumen/compile.h"
#include "models/decoder.h"
#include "models/generator.h"
#include "models/model_files.h"
#include "tools/fusion_arguments.h"

namespace lumen::tools {

struct ModelArguments {
  std::string path;
  bool random_weights = false;
  std::string dtype;        // empty: what the file says
  int64_t max_context = 0;  // 0: the model's, 4096 at most
  std::string device;       // empty: LUMEN_BACKEND
  int64_t max_memory = 0;   // MiB of a GPU; 0: all
  int64_t batch = 1;        // texts beside each other
  int64_t candidates = 0;   // likely tokens that a GPU lists: all logits are far away
  bool measure = true;      // else times of kernels are estimated
  FusionArguments fusion;
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
  BackendKind backend = BackendKind::cpu;
  int device = 0;             // which GPU
  std::string hardware = {};  // its fingerprint; empty on the reference
  double load_seconds = 0, search_seconds = 0;
};

// Whether a model is fit for a command, by its files and what it is; it has no session yet. Compiling takes minutes,
// and comes after this.
using ModelCheck = std::function<Expected<void>(const LanguageModel&)>;

// `session` is filled; progress is shown while that takes long.
// The trace, where there is one, gets what is compiled and every step; the record what the search found.
Expected<std::unique_ptr<LanguageModel>> load_model(const ModelArguments& arguments, const ModelCheck& check = {},
                                                    Trace* trace = nullptr,
                                                    std::vector<search::PartRecord>* record = nullptr);

// Tokens that end a text, by config.json or generation_config.json's way of saying them.
std::vector<int32_t> end_tokens(const std::string& config);
Expected<Tokenizer> need_tokenizer(const LanguageModel& model);
// A model that writes.
Expected<void> need_causal(const LanguageModel& model);
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
  std::string trace;   // .json
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
  std::string depths = "128";  // lengths of what is read before these are written
  int32_t top_k = 0;           // tokens are drawn from so many; 0: the likeliest are taken
  int64_t rounds = 3;
  std::string json;
  bool profile = false;
  std::string trace;
};
Expected<int> bench_language_model(const LlmBenchArguments& arguments);

// Of a graph or a program, or of a model.
struct ProfileArguments {
  std::string file;
  ModelArguments model;           // its path is empty when `file` is not
  std::vector<std::string> dims;  // NAME=N
  int64_t prompt = 128;           // tokens that a model reads
  int64_t rounds = 15;
  std::string json;
};
Expected<int> profile_program(const ProfileArguments& arguments);

// A page about a graph, about two, or about a model.
struct ExplainArguments {
  std::string file;
  std::vector<std::string> diff;  // two files
  ModelArguments model;
  std::string output = "explain.html";
  std::vector<std::string> dims;  // NAME=N
  bool no_rewrite = false;
  bool no_measure = false;
  int64_t prompt = 128;
};
Expected<int> explain_programs(const ExplainArguments& arguments);

// Token ids that are spread over a vocabulary.
std::vector<int32_t> some_tokens(int64_t count, int64_t vocabulary);

}  // namespace lumen::tools
