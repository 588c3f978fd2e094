#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iostream>

#include "tools/language.h"

namespace lumen::tools {

Expected<int> embed_texts(const EmbedArguments& arguments) try {
  const auto check = [](const LanguageModel& model) -> Expected<void> {
    if (model.model.kind != models::ModelKind::encoder) {
      return error(fmt::format("{} does not embed texts; `lumen generate` continues them", model.model.architecture));
    }
    LUMEN_TRY(need_tokenizer(model));
    return {};
  };
  const std::unique_ptr<LanguageModel> loaded = LUMEN_TRY(load_model(arguments.model, check));
  const Tokenizer tokenizer = LUMEN_TRY(need_tokenizer(*loaded));
  std::vector<std::string> texts = arguments.texts;
  if (texts.empty()) {
    for (std::string line; std::getline(std::cin, line);) texts.push_back(line);
  }
  Session& session = *loaded->session;
  const int64_t most = loaded->model.options.max_context;
  for (const std::string& text : texts) {
    std::vector<int32_t> ids = LUMEN_TRY(tokenizer.encode(text));
    if (ids.empty()) return error("a text without tokens has no embedding");
    if (static_cast<int64_t>(ids.size()) > most) {
      const int32_t last = ids.back();  // the token that ends a text stays
      ids.resize(static_cast<size_t>(most));
      ids.back() = last;
    }
    const auto count = static_cast<int64_t>(ids.size());
    const std::vector<int32_t> mask(ids.size(), 1);
    session.bind("tokens", ids.data(), {1, count});
    session.bind("mask", mask.data(), {1, count});
    session.execute();
    fmt::print("[{}]\n", fmt::join(session.get<float>("embedding"), ", "));
  }
  return 0;
} catch (const Error& problem) {
  return Diag(problem.diag());
}

}  // namespace lumen::tools
