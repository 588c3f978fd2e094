#include "lumen/import/gguf_vocabulary.h"

#include "tests/import/files.h"

namespace lumen::testing {
namespace {

using Integers = GgufValue::Integers;

class Vocabulary : public ImportTest {
 protected:
  static GgufMetadata small() {
    return {{"tokenizer.ggml.model", GgufValue::of_string("llama")},
            {"tokenizer.ggml.tokens", GgufValue::of_array(GgufType::string, GgufValue::Strings{"<unk>", "<s>", "a"})}};
  }
  // Of `small` with one value more.
  Expected<GgufVocabulary> with(const char* key, GgufValue value) const {
    GgufMetadata metadata = small();
    metadata[key] = std::move(value);
    EXPECT_TRUE(write_gguf(path("v.gguf"), metadata, {}).ok());
    return vocabulary_of(Gguf::open(path("v.gguf")).value());
  }
  std::string failure(const char* key, GgufValue value) const {
    const Expected<GgufVocabulary> result = with(key, std::move(value));
    return result.ok() ? "no error" : result.diag().str().substr(path("v.gguf").size() + 2);
  }
};

TEST_F(Vocabulary, RefusesWhatDoesNotFit) {
  EXPECT_EQ(failure("tokenizer.ggml.scores", GgufValue::of_array(GgufType::f32, GgufValue::Floats{1})),
            "metadata \"tokenizer.ggml.scores\" has 1 values for 3 tokens");
  EXPECT_EQ(failure("tokenizer.ggml.token_type", GgufValue::of_array(GgufType::i32, Integers{1, 1, 1, 1})),
            "metadata \"tokenizer.ggml.token_type\" has 4 values for 3 tokens");
  EXPECT_EQ(failure("tokenizer.ggml.bos_token_id", GgufValue::of_u32(3)),
            "metadata \"tokenizer.ggml.bos_token_id\" is 3, but there are 3 tokens");
  EXPECT_EQ(failure("tokenizer.ggml.add_bos_token", GgufValue::of_u32(1)),
            "metadata \"tokenizer.ggml.add_bos_token\" is u32, a bool is wanted");
  EXPECT_EQ(failure("tokenizer.ggml.tokens", GgufValue::of_array(GgufType::string, GgufValue::Strings{})),
            "a vocabulary without tokens");
}

TEST_F(Vocabulary, LeavesOpenWhatIsNotThere) {
  const GgufVocabulary bare = with("other", GgufValue::of_u32(1)).value();
  EXPECT_EQ(bare.model, "llama");
  EXPECT_EQ(bare.tokens, (std::vector<std::string>{"<unk>", "<s>", "a"}));
  EXPECT_TRUE(bare.scores.empty() && bare.types.empty() && bare.merges.empty() && bare.pre.empty());
  EXPECT_FALSE(bare.bos || bare.eos || bare.unk || bare.add_bos || bare.add_eos || bare.add_space_prefix);
  EXPECT_EQ(with("tokenizer.ggml.eos_token_id", GgufValue::of_u32(2)).value().eos, 2);
  EXPECT_EQ(with("tokenizer.ggml.eos_token_id", GgufValue::of_u32(UINT32_MAX)).value().eos, std::nullopt);
  EXPECT_EQ(with("tokenizer.ggml.add_bos_token", GgufValue::of_bool(false)).value().add_bos, false);
  EXPECT_EQ(with("tokenizer.chat_template", GgufValue::of_string("{{x}}")).value().chat_template, "{{x}}");
}

}  // namespace
}  // namespace lumen::testing
