// Real weights with known answers: text that a small model writes, token by token.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "lumen/compile.h"
#include "models/generator.h"
#include "models/model_files.h"
#include "tests/support/source_dir.h"

namespace lumen::models {
namespace {

namespace fs = std::filesystem;

// The weights are not part of the tree; they lie beside it where they are.
fs::path stories(const std::string& name) { return tests::source_dir() / ".." / "shared" / "models" / name; }

class Stories : public ::testing::TestWithParam<const char*> {};

TEST_P(Stories, are_told_as_the_exact_model_tells_them) {
  const fs::path path = stories(std::string(GetParam()) + ".gguf");
  if (!fs::exists(path)) GTEST_SKIP() << path << " is not there";
  ModelFiles files = ModelFiles::open(path.string()).value();
  const Model model = files.build({.max_context = 256}).value();
  CompileOptions options;
  options.measure = false;
  options.buckets = {"seq=1,2-256"};
  Session session = compile(*model.graph, options);
  files.bind(session).value();
  Generator generator(Decoder(std::move(session), model), *files.tokenizer());
  std::ifstream answers(stories(std::string(GetParam()) + ".json"));
  for (const auto& known : nlohmann::json::parse(answers)["cases"]) {
    const auto prompt = known["prompt"].get<std::string>();
    const auto ids = known["prompt_ids"].get<std::vector<int32_t>>();
    EXPECT_EQ(files.tokenizer()->encode(prompt).value(), ids) << prompt;
    const auto wanted = known["greedy_ids"].get<std::vector<int32_t>>();
    GenerateOptions greedy;
    greedy.sampling.temperature = 0;
    greedy.max_tokens = static_cast<int64_t>(wanted.size());
    greedy.ignore_end = true;
    std::string text;
    generator.decoder().reset();
    const GenerateResult result = generator.generate(ids, greedy, [&](std::string_view part) {
      text += part;
      return true;
    });
    EXPECT_EQ(result.tokens, wanted) << prompt << text;
    EXPECT_EQ(text, generator.tokenizer().decode(wanted));
  }
}

INSTANTIATE_TEST_SUITE_P(Real, Stories, ::testing::Values("stories260k-f32", "stories15m-q8_0"),
                         [](const auto& name) { return std::string(name.param).substr(7, 3); });

}  // namespace
}  // namespace lumen::models
