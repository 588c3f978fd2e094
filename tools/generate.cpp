#include <fmt/format.h>

#include <cstdio>
#include <iostream>
#include <nlohmann/json.hpp>

#include "lumen/text/chat_template.h"
#include "tools/files.h"
#include "tools/language.h"
#include "tools/trace_file.h"

namespace lumen::tools {

namespace {

bool show(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
  return std::fflush(stdout) == 0;
}

Expected<std::string> read_prompt(const GenerateArguments& arguments) {
  if (arguments.prompt_file.empty()) return arguments.prompt;
  return read_text(arguments.prompt_file);
}

models::Generator make_generator(LanguageModel& loaded, const Tokenizer& tokenizer) {
  models::Decoder decoder(std::move(*loaded.session), loaded.model);
  return models::Generator(std::move(decoder), tokenizer, end_tokens(loaded.files.config()));
}

// Lists what the sampler draws from, where that is computed far from it.
Expected<std::unique_ptr<LanguageModel>> load_for(const SamplingOptions& sampling, ModelArguments arguments,
                                                  const ModelCheck& check, Trace* trace = nullptr) {
  arguments.candidates = sampling.useful_candidates();
  return load_model(arguments, check, trace);
}

std::string token_text(const Tokenizer& tokenizer, std::optional<int32_t> id) {
  return id ? std::string(tokenizer.token(*id)) : std::string();
}

}  // namespace

Expected<int> generate_text(const GenerateArguments& arguments) try {
  const models::GenerateOptions options = LUMEN_TRY(generate_options(arguments.sampling));
  const std::string prompt = LUMEN_TRY(read_prompt(arguments));
  TraceFile trace(arguments.trace);
  std::vector<int32_t> ids;
  const auto check = [&](const LanguageModel& model) -> Expected<void> {
    LUMEN_TRY(need_causal(model));
    const Tokenizer tokenizer = LUMEN_TRY(need_tokenizer(model));
    ids = LUMEN_TRY(tokenizer.encode(prompt, {.add_special = !arguments.raw}));
    if (ids.empty()) return error("the prompt is empty, and the model has no token to begin with");
    return {};
  };
  const std::unique_ptr<LanguageModel> loaded =
      LUMEN_TRY(load_for(options.sampling, arguments.model, check, trace.trace()));
  models::Generator generator = make_generator(*loaded, LUMEN_TRY(need_tokenizer(*loaded)));
  const models::GenerateResult result = generator.generate(ids, options, show);
  show("\n");
  fmt::print(stderr, "{}", statistics_text(*loaded, ids.size(), result));
  return 0;
} catch (const Error& problem) {
  return Diag(problem.diag());
}

Expected<int> chat_with_model(const GenerateArguments& arguments) try {
  const models::GenerateOptions options = LUMEN_TRY(generate_options(arguments.sampling));
  const auto check = [](const LanguageModel& model) -> Expected<void> {
    LUMEN_TRY(need_causal(model));
    const Tokenizer tokenizer = LUMEN_TRY(need_tokenizer(model));
    if (!tokenizer.chat_template().empty()) return {};
    return error("the model comes without a chat template; `lumen generate` continues any text");
  };
  const std::unique_ptr<LanguageModel> loaded = LUMEN_TRY(load_for(options.sampling, arguments.model, check));
  const Tokenizer tokenizer = LUMEN_TRY(need_tokenizer(*loaded));
  const ChatTemplate chat = LUMEN_TRY(ChatTemplate::parse(tokenizer.chat_template()));
  nlohmann::ordered_json messages = nlohmann::ordered_json::array();
  if (!arguments.system.empty()) messages.push_back({{"role", "system"}, {"content", arguments.system}});
  models::Generator generator = make_generator(*loaded, tokenizer);
  fmt::print(stderr, "An empty line, or the end of input, ends the conversation.\n");
  std::vector<int32_t> seen;  // what the decoder holds
  for (std::string line; fmt::print(stderr, "> "), std::getline(std::cin, line) && !line.empty();) {
    messages.push_back({{"role", "user"}, {"content", line}});
    const std::string text = LUMEN_TRY(chat.render({{"messages", messages},
                                                    {"add_generation_prompt", true},
                                                    {"bos_token", token_text(tokenizer, tokenizer.bos())},
                                                    {"eos_token", token_text(tokenizer, tokenizer.eos())}}));
    std::vector<int32_t> ids = LUMEN_TRY(tokenizer.encode(text, {.add_special = false}));
    // Only what is new is read, as long as a template leaves what was said before as it was.
    const auto same = std::ranges::mismatch(seen, ids);
    std::vector<int32_t> fresh(same.in2, ids.end());
    if (same.in1 != seen.end() || fresh.empty()) {
      generator.decoder().reset();
      fresh = ids;
    }
    std::string answer;
    const models::GenerateResult result = generator.generate(fresh, options, [&](std::string_view part) {
      answer += part;
      return show(part);
    });
    show("\n");
    messages.push_back({{"role", "assistant"}, {"content", answer}});
    seen = std::move(ids);
    // The token that ended the answer, or the last one, was not read by the decoder.
    seen.insert(seen.end(), result.tokens.begin(), result.tokens.end());
    seen.resize(static_cast<size_t>(generator.decoder().length(0)));
    fmt::print(stderr, "{}", statistics_text(*loaded, fresh.size(), result));
  }
  return 0;
} catch (const Error& problem) {
  return Diag(problem.diag());
}

}  // namespace lumen::tools
