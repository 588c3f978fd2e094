#include <thread>

#include "tests/text/small_tokenizers.h"

namespace lumen::testing {
namespace {

TEST(TokenizerJson, RefusesWhatIsNone) {
  EXPECT_EQ(text_failure(""), "tokenizer.json: not JSON");
  EXPECT_EQ(text_failure("{"), "tokenizer.json: not JSON");
  EXPECT_EQ(text_failure("[]"), "tokenizer.json: the whole: not an object but array");
  EXPECT_EQ(text_failure("{}"), "tokenizer.json: the whole: \"model\" is missing");
  EXPECT_EQ(text_failure(R"({"model": 3})"), "tokenizer.json: model: not an object but number");
}

TEST(TokenizerJson, NamesWhatItDoesNotSupport) {
  const auto with = [](const char* part, const Json& value) {
    Json json = byte_level_json();
    json[part] = value;
    return failure(json);
  };
  EXPECT_EQ(
      with("normalizer", {{"type", "Magic"}}),
      "tokenizer.json: normalizer: Magic: not supported; these are: BertNormalizer, ByteLevel, Lowercase, NFC, NFD, "
      "NFKC, NFKD, Nmt, Precompiled, Prepend, Replace, Sequence, Strip, StripAccents");
  EXPECT_EQ(with("pre_tokenizer", {{"type", "UnicodeScripts"}}),
            "tokenizer.json: pre_tokenizer: UnicodeScripts: not supported; these are: BertPreTokenizer, ByteLevel, "
            "CharDelimiterSplit, Digits, Metaspace, Punctuation, Sequence, Split, Whitespace, WhitespaceSplit");
  EXPECT_EQ(with("decoder", {{"type", "CTC"}}),
            "tokenizer.json: decoder: CTC: not supported; these are: BPEDecoder, ByteFallback, ByteLevel, Fuse, "
            "Metaspace, Replace, Sequence, Strip, WordPiece");
  EXPECT_EQ(
      with("post_processor", {{"type", "X"}}),
      "tokenizer.json: post_processor: X: not supported; these are: BertProcessing, ByteLevel, RobertaProcessing, "
      "Sequence, TemplateProcessing");
  EXPECT_EQ(with("model", {{"type", "Neural"}}),
            "tokenizer.json: model: Neural: not supported; these are: BPE, Unigram, WordLevel, WordPiece");
}

TEST(TokenizerJson, RefusesPartsThatLie) {
  const auto with = [](const char* key, const Json& value) {
    Json json = byte_level_json();
    json["model"][key] = value;
    return failure(json);
  };
  EXPECT_EQ(with("merges", {"h x"}), "tokenizer.json: model: BPE: merge \"h x\": \"x\" is not in the vocabulary");
  EXPECT_EQ(with("merges", {"h o"}), "tokenizer.json: model: BPE: merge \"h o\": \"ho\" is not in the vocabulary");
  EXPECT_EQ(with("merges", {"h"}), "tokenizer.json: model: BPE: merge \"h\" is not two tokens");
  EXPECT_EQ(with("merges", {1}), "tokenizer.json: model: BPE: merge 0 is not two tokens");
  EXPECT_EQ(with("vocab", {{"a", 1}, {"b", 1}}), "tokens \"a\" and \"b\" have the same id 1");
  EXPECT_EQ(with("vocab", {{"a", -1}}), "token \"a\": id -1 is out of range");
  EXPECT_EQ(with("vocab", {{"a", 1LL << 40}}), "token \"a\": id 1099511627776 is out of range");
  EXPECT_EQ(with("dropout", 0.1), "tokenizer.json: model: BPE: \"dropout\" would make it random");
  EXPECT_EQ(with("byte_fallback", 1), "tokenizer.json: model: BPE: \"byte_fallback\" is not true or false");
}

TEST(TokenizerJson, RefusesBadRegexesAndDeepNesting) {
  Json json = byte_level_json();
  json["pre_tokenizer"] = {{"type", "Split"}, {"pattern", {{"Regex", "(a"}}}, {"behavior", "Isolated"}};
  EXPECT_EQ(failure(json), "tokenizer.json: pre_tokenizer: Split: pattern: regex \"(a\": missing closing parenthesis");
  Json nested = {{"type", "NFC"}};
  for (int k = 0; k < 30; ++k) nested = {{"type", "Sequence"}, {"normalizers", {nested}}};
  json["normalizer"] = nested;
  EXPECT_EQ(failure(json), "tokenizer.json: normalizer: Sequence: nested too deeply");
}

TEST(TokenizerJson, ARegexThatTakesTooLongIsAnError) {
  Json json = byte_level_json();
  json["pre_tokenizer"] = {{"type", "Split"}, {"pattern", {{"Regex", "(l+)+(l+)+[xyz]"}}}, {"behavior", "Isolated"}};
  const Expected<Ids> ids = make(json).encode(std::string(5000, 'l'));
  ASSERT_FALSE(ids.ok());
  EXPECT_TRUE(ids.diag().message.starts_with("a regex of the tokenizer, at byte 0: ")) << ids.diag().str();
}

TEST(TokenizerJson, MergesTheBestPairFirst) {
  const Tokenizer tokenizer = make(byte_level_json());
  EXPECT_EQ(tokenizer.encode("hello wh").value(), (Ids{10, 3, 11, 0}));
  EXPECT_EQ(tokenizer.encode("é").value(), (Ids{6, 7}));
  EXPECT_EQ(tokenizer.encode("").value(), Ids{});
  EXPECT_EQ(tokenizer.decode(Ids{10, 3, 11, 0}), "hello wh");
  EXPECT_EQ(tokenizer.token(11), "Ġw");
  EXPECT_EQ(tokenizer.id("hell"), 10);
  EXPECT_EQ(tokenizer.id("nope"), std::nullopt);
  EXPECT_EQ(tokenizer.token(50), "");
  EXPECT_EQ(tokenizer.size(), 102);
}

TEST(TokenizerJson, SpecialTokensAreFoundUnlessTheTextIsNotTrusted) {
  const Tokenizer tokenizer = make(byte_level_json());
  EXPECT_EQ(tokenizer.encode("h<s>o<tool>").value(), (Ids{0, 100, 3, 101}));
  // "<", "s" and ">" are not in the vocabulary, and there is no unknown token.
  EXPECT_EQ(tokenizer.encode("h<s>o<tool>", {true, false}).value(), (Ids{0, 3, 101}));
  EXPECT_EQ(tokenizer.decode(Ids{0, 100, 101}), "h<tool>");
  EXPECT_EQ(tokenizer.decode(Ids{0, 100, 101}, {false}), "h<s><tool>");
  EXPECT_TRUE(tokenizer.is_special(100));
  EXPECT_FALSE(tokenizer.is_special(101));
}

TEST(TokenizerJson, IdsThatDoNotExistAreLeftOut) {
  const Tokenizer tokenizer = make(byte_level_json());
  EXPECT_EQ(tokenizer.decode(Ids{0, 50, -1, 1 << 30, 3}), "ho");
}

TEST(TokenizerJson, StripsAndWholeWordsOfAddedTokens) {
  Json json = byte_level_json();
  Json token = added(102, "who", false);
  token["single_word"] = true;
  token["lstrip"] = true;
  json["added_tokens"].push_back(token);
  const Tokenizer tokenizer = make(json);
  EXPECT_EQ(tokenizer.encode("o  who").value(), (Ids{3, 102}));
  EXPECT_EQ(tokenizer.encode("whole").value(), (Ids{5, 0, 3, 2, 1})) << "a letter touches it";
}

TEST(TokenizerJson, AddsWhatTheTemplateSays) {
  Json json = byte_level_json();
  json["post_processor"] = {
      {"type", "TemplateProcessing"},
      {"single", {{{"SpecialToken", {{"id", "<s>"}, {"type_id", 0}}}}, {{"Sequence", {{"id", "A"}}}}}},
      {"special_tokens", {{"<s>", {{"id", "<s>"}, {"ids", {100}}}}}}};
  const Tokenizer tokenizer = make(json);
  EXPECT_EQ(tokenizer.encode("o").value(), (Ids{100, 3}));
  EXPECT_EQ(tokenizer.encode("o", {false, true}).value(), Ids{3});
  EXPECT_EQ(tokenizer.bos(), 100);
  EXPECT_EQ(tokenizer.eos(), std::nullopt);
  json["post_processor"]["single"] = Json::array({{{"SpecialToken", {{"id", "</s>"}}}}});
  EXPECT_EQ(failure(json),
            "tokenizer.json: post_processor: TemplateProcessing: special token \"</s>\" is not in \"special_tokens\"");
}

TEST(TokenizerJson, ReadsTheConfigBesideIt) {
  const Tokenizer tokenizer = make(byte_level_json());
  const Tokenizer with =
      tokenizer.with_config(R"({"bos_token": {"content": "<s>"}, "eos_token": "<tool>", "chat_template": "x"})")
          .value();
  EXPECT_EQ(with.bos(), 100);
  EXPECT_EQ(with.eos(), 101);
  EXPECT_EQ(with.chat_template(), "x");
  EXPECT_EQ(tokenizer.with_config("[]").diag().str(), "tokenizer config: not a JSON object");
  EXPECT_EQ(tokenizer.with_config(R"({"bos_token": "<x>"})").diag().str(),
            "tokenizer config: bos_token \"<x>\" is no token");
}

TEST(TokenizerJson, InvalidUtf8IsTheReplacementCharacter) {
  const Tokenizer tokenizer = make(fallback_json());
  EXPECT_EQ(tokenizer.encode("a\xff").value(), tokenizer.encode("a\xEF\xBF\xBD").value());
  EXPECT_EQ(tokenizer.encode("a\xE4\xBD").value(), tokenizer.encode("a\xEF\xBF\xBD").value());
}

TEST(TokenizerJson, ThreadsAgree) {
  const Tokenizer tokenizer = make(byte_level_json());
  std::string text;
  for (int k = 0; k < 5000; ++k) text += k % 3 == 0 ? "hello " : "whole ";
  const Ids wanted = tokenizer.encode(text).value();
  std::vector<std::thread> threads;
  for (int k = 0; k < 4; ++k) {
    threads.emplace_back([&] { EXPECT_EQ(tokenizer.encode(text).value(), wanted); });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace lumen::testing
