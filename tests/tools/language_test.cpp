// What commands over language models check before they compile for minutes.
#include <gtest/gtest.h>

#include "tests/tools/program.h"

namespace lumen::tests {
namespace {

struct Language {
  TemporaryFolder folder;
  // What is compiled is kept: a folder without a cache is one where nothing was.
  Finished operator()(std::vector<std::string> arguments) const {
    arguments.insert(arguments.end(), {"--model", "config.json", "--random-weights", "--dtype", "f32"});
    return run_lumen(arguments, folder.path(), "", {"LUMEN_CACHE=" + folder.path() + "/cache"});
  }
};

TEST(Language, a_model_without_a_tokenizer_is_not_compiled) {
  const Language lumen;
  lumen.folder.write("config.json", kLlama);
  for (const std::vector<std::string>& command : {std::vector<std::string>{"generate", "-p", "hello"}, {"chat"}}) {
    const Finished run = lumen(command);
    EXPECT_EQ(run.status, 1);
    EXPECT_EQ(run.err,
              "lumen: the model comes without a tokenizer (tokenizer.json, tokenizer.model, or a GGUF vocabulary)\n");
    EXPECT_EQ(lumen.folder.count(), 1U);
  }
}

TEST(Language, nor_is_one_that_does_something_else_or_has_nothing_to_read) {
  const Language lumen;
  lumen.folder.write("config.json", kLlama);
  lumen.folder.write("tokenizer.json",
                     R"({"pre_tokenizer": {"type": "WhitespaceSplit"},
                         "model": {"type": "WordLevel", "unk_token": "?", "vocab": {"?": 0, "a": 1}}})");
  EXPECT_NE(lumen({"embed", "a"}).err.find("does not embed texts; `lumen generate` continues them"), std::string::npos);
  EXPECT_EQ(lumen({"generate", "-p", ""}).err,
            "lumen: the prompt is empty, and the model has no token to begin with\n");
  EXPECT_EQ(lumen({"chat"}).err,
            "lumen: the model comes without a chat template; `lumen generate` continues any text\n");
  EXPECT_EQ(lumen.folder.count(), 2U);
}

}  // namespace
}  // namespace lumen::tests
