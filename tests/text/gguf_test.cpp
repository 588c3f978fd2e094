#include <gtest/gtest.h>

#include "lumen/text/tokenizer.h"

namespace lumen {
namespace {

using Ids = std::vector<int32_t>;

GgufVocabulary llama() {
  GgufVocabulary vocabulary;
  vocabulary.model = "llama";
  vocabulary.tokens = {"<unk>", "<s>", "</s>", "<0x0A>", "▁", "a", "b", "▁a", "ab", "[INST]"};
  vocabulary.scores = {0, 0, 0, 0, -3, -4, -5, -1, -2, 0};
  vocabulary.types = {2, 3, 3, 6, 1, 1, 1, 1, 1, 3};
  vocabulary.bos = 1;
  vocabulary.eos = 2;
  return vocabulary;
}

GgufVocabulary gpt2() {
  GgufVocabulary vocabulary;
  vocabulary.model = "gpt2";
  vocabulary.pre = "qwen2";
  vocabulary.tokens = {"1", "2", "12", "Ġ", "a", "Ġa", "<|end|>"};
  vocabulary.types = {1, 1, 1, 1, 1, 1, 3};
  vocabulary.merges = {"1 2", "Ġ a"};
  vocabulary.eos = 6;
  return vocabulary;
}

std::string refusal(const GgufVocabulary& vocabulary) {
  const Expected<Tokenizer> tokenizer = Tokenizer::from_gguf(vocabulary);
  return tokenizer.ok() ? "no error" : tokenizer.diag().str();
}

template <class Change>
std::string refusal_of(GgufVocabulary vocabulary, Change change) {
  change(vocabulary);
  return refusal(vocabulary);
}

TEST(Gguf, RefusesWhatDoesNotFit) {
  EXPECT_EQ(refusal({}), "GGUF vocabulary: no tokens");
  EXPECT_EQ(refusal_of(llama(), [](auto& v) { v.model = "rwkv"; }),
            "GGUF vocabulary: model \"rwkv\" is not supported; these are: llama, gpt2, bert");
  EXPECT_EQ(refusal_of(llama(), [](auto& v) { v.scores.pop_back(); }), "GGUF vocabulary: 10 tokens but 9 scores");
  EXPECT_EQ(refusal_of(llama(), [](auto& v) { v.scores.clear(); }), "GGUF vocabulary: model \"llama\" needs scores");
  EXPECT_EQ(refusal_of(llama(), [](auto& v) { v.types[0] = 7; }), "GGUF vocabulary: token type 7 is not 1 to 6");
  EXPECT_EQ(refusal_of(llama(), [](auto& v) { v.bos = 10; }), "GGUF vocabulary: bos id 10 of 10 tokens");
  EXPECT_EQ(refusal_of(gpt2(), [](auto& v) { v.merges = {"12"}; }), "GGUF vocabulary: merge \"12\" is not two tokens");
  EXPECT_TRUE(refusal_of(gpt2(), [](auto& v) {
                v.pre = "new";
              }).starts_with("GGUF vocabulary: pre-tokenizer \"new\" is not supported; these are: default, gpt-2,"));
}

TEST(Gguf, Llama) {
  const Tokenizer tokenizer = Tokenizer::from_gguf(llama()).value();
  EXPECT_EQ(tokenizer.encode("ab").value(), (Ids{1, 7, 6}));
  EXPECT_EQ(tokenizer.encode("a\n").value(), (Ids{1, 7, 3}));
  EXPECT_EQ(tokenizer.encode("[INST]a").value(), (Ids{1, 9, 7}));
  EXPECT_EQ(tokenizer.decode(Ids{1, 7, 6, 3, 7}), "ab\n a");
  GgufVocabulary plain = llama();
  plain.add_space_prefix = false;
  plain.add_bos = false;
  plain.add_eos = true;
  EXPECT_EQ(Tokenizer::from_gguf(plain)->encode("ab").value(), (Ids{8, 2}));
}

TEST(Gguf, Gpt2) {
  const Tokenizer tokenizer = Tokenizer::from_gguf(gpt2()).value();
  EXPECT_EQ(tokenizer.encode("12 a<|end|>").value(), (Ids{0, 1, 5, 6})) << "qwen2 cuts digits apart";
  GgufVocabulary three = gpt2();
  three.pre = "llama-bpe";
  EXPECT_EQ(Tokenizer::from_gguf(three)->encode("12 a").value(), (Ids{2, 5}));
  EXPECT_EQ(tokenizer.decode(Ids{2, 5, 6}), "12 a");
}

TEST(Gguf, Bert) {
  GgufVocabulary vocabulary;
  vocabulary.model = "bert";
  vocabulary.tokens = {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "▁play", "ing", "▁!", "▁the"};
  vocabulary.types = {3, 3, 3, 3, 1, 1, 1, 1};
  const Tokenizer tokenizer = Tokenizer::from_gguf(vocabulary).value();
  EXPECT_EQ(tokenizer.encode("Thé playing!").value(), (Ids{2, 7, 4, 5, 6, 3}));
  EXPECT_EQ(tokenizer.encode("ingplay", {false, true}).value(), Ids{1});
  EXPECT_EQ(tokenizer.decode(Ids{7, 4, 5, 6}), "the playing!");
}

}  // namespace
}  // namespace lumen
