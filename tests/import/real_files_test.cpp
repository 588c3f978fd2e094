// Files that other programs wrote. They lie beside the source tree, and their tests are skipped where they do not.
#include <gtest/gtest.h>

#include <filesystem>

#include "lumen/import/gguf_vocabulary.h"
#include "lumen/import/weights.h"
#include "tests/support/source_dir.h"

namespace lumen {
namespace {

std::string model_file(const char* name) {
  return (tests::source_dir().parent_path() / "shared" / "models" / name).string();
}

#define OPEN_OR_SKIP(weights, name)                                                                    \
  if (!std::filesystem::exists(model_file(name))) GTEST_SKIP() << model_file(name) << " is not there"; \
  const Weights weights = Weights::open(model_file(name)).value()

TEST(RealFiles, Stories260k) {
  OPEN_OR_SKIP(weights, "stories260k-f32.gguf");
  const Gguf& file = *weights.gguf();
  EXPECT_EQ(file.string("general.architecture").value(), "llama");
  EXPECT_EQ(file.integer("llama.block_count").value(), 5);
  EXPECT_EQ(file.integer("llama.attention.head_count_kv").value(), 4);
  EXPECT_EQ(weights.entries().size(), 2u + 5 * 9);
  EXPECT_EQ(weights.find("token_embd.weight").value()->dims, (std::vector<int64_t>{512, 64}));
  EXPECT_EQ(weights.find("blk.4.attn_k.weight").value()->dims, (std::vector<int64_t>{32, 64}));
  const GgufVocabulary vocabulary = vocabulary_of(file).value();
  EXPECT_EQ(vocabulary.model, "llama");
  EXPECT_EQ(vocabulary.tokens.size(), 512u);
  EXPECT_EQ(vocabulary.scores.size(), 512u);
  EXPECT_EQ(vocabulary.bos, 1);
}

TEST(RealFiles, Stories15m) {
  OPEN_OR_SKIP(weights, "stories15m-q8_0.gguf");
  EXPECT_EQ(weights.find("token_embd.weight").value()->type_name, "q8_0");
  EXPECT_EQ(weights.find("token_embd.weight").value()->dims, (std::vector<int64_t>{32000, 288}));
  EXPECT_EQ(weights.find("output_norm.weight").value()->type_name, "f32");
  EXPECT_EQ(vocabulary_of(*weights.gguf()).value().tokens.size(), 32000u);
}

}  // namespace
}  // namespace lumen
