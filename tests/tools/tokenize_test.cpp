#include <gtest/gtest.h>

#include "tests/tools/program.h"

namespace lumen::tests {
namespace {

constexpr const char* kTokenizer = R"({
  "added_tokens": [{"id": 3, "content": "<s>", "special": true}],
  "pre_tokenizer": {"type": "WhitespaceSplit"},
  "post_processor": {"type": "TemplateProcessing",
    "single": [{"SpecialToken": {"id": "<s>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}],
    "special_tokens": {"<s>": {"id": "<s>", "ids": [3], "tokens": ["<s>"]}}},
  "model": {"type": "WordLevel", "unk_token": "?", "vocab": {"?": 0, "a": 1, "b": 2}}})";

struct Tokenize {
  TemporaryFolder folder;
  Tokenize() { folder.write("t.json", kTokenizer); }
  Finished operator()(std::vector<std::string> arguments, const std::string& input = "") const {
    arguments.insert(arguments.begin(), {"tokenize", "--tokenizer", "t.json"});
    return run_lumen(arguments, folder.path(), input);
  }
};

TEST(Tokenize, PrintsIds) {
  const Tokenize tokenize;
  EXPECT_EQ(tokenize({"a b c"}).out, "3 1 2 0\n");
  EXPECT_EQ(tokenize({"a <s>", "--no-special"}).out, "1 0\n");
  EXPECT_EQ(tokenize({"a <s>"}).out, "3 1 3\n");
  EXPECT_EQ(tokenize({"-", "--count"}, "a b\n").out, "3\n");
}

TEST(Tokenize, PrintsText) {
  const Tokenize tokenize;
  EXPECT_EQ(tokenize({"--decode", "3 1, 2"}).out, "a b\n");
  EXPECT_EQ(tokenize({"--decode", "--no-special", "[3, 1, 2]"}).out, "<s> a b\n");
  EXPECT_EQ(tokenize({"--decode", "-"}, "2\n1\n").out, "b a\n");
  EXPECT_EQ(tokenize({"--decode", "x"}).status, 1);
}

}  // namespace
}  // namespace lumen::tests
