#include "tests/text/small_tokenizers.h"

namespace lumen::testing {
namespace {

TEST(Detokenizer, GivesNoPartOfACharacter) {
  Detokenizer detokenizer(make(byte_level_json()));
  EXPECT_EQ(detokenizer.push(0), "h");
  EXPECT_EQ(detokenizer.push(6), "");
  EXPECT_EQ(detokenizer.push(7), "é");
  EXPECT_EQ(detokenizer.push(11), " w");
  EXPECT_EQ(detokenizer.finish(), "");
}

TEST(Detokenizer, WhatNeverBecomesACharacterIsReplaced) {
  Detokenizer detokenizer(make(byte_level_json()));
  EXPECT_EQ(detokenizer.push(6), "");
  EXPECT_EQ(detokenizer.push(0), "\uFFFDh");
  EXPECT_EQ(detokenizer.push(6), "");
  EXPECT_EQ(detokenizer.finish(), "\uFFFD");
  EXPECT_EQ(detokenizer.push(3), "o") << "a new text";
}

TEST(Detokenizer, BytesWaitForTheEndOfTheirRow) {
  Detokenizer detokenizer(make(fallback_json()));
  EXPECT_EQ(detokenizer.push(4), "a") << "without the space that encoding put there";
  EXPECT_EQ(detokenizer.push(5), "");
  EXPECT_EQ(detokenizer.push(6), "");
  EXPECT_EQ(detokenizer.push(4), "é a");
  EXPECT_EQ(detokenizer.push(5), "");
  EXPECT_EQ(detokenizer.push(5), "");
  EXPECT_EQ(detokenizer.finish(), "\uFFFD\uFFFD");
}

TEST(Detokenizer, AllOfItIsWhatDecodeGives) {
  for (const Json& json : {byte_level_json(), fallback_json()}) {
    const Tokenizer tokenizer = make(json);
    uint64_t random = 1;
    for (int trial = 0; trial < 2000; ++trial) {
      Ids ids;
      for (int k = 0; k < 12; ++k) {
        random = random * 6364136223846793005 + 1442695040888963407;
        ids.push_back(static_cast<int32_t>((random >> 33) % 13));
      }
      Detokenizer detokenizer(tokenizer, {false});
      std::string streamed;
      for (const int32_t id : ids) streamed += detokenizer.push(id);
      streamed += detokenizer.finish();
      ASSERT_EQ(streamed, tokenizer.decode(ids, {false})) << trial;
    }
  }
}

}  // namespace
}  // namespace lumen::testing
