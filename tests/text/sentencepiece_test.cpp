#include <gtest/gtest.h>

#include <bit>

#include "lumen/text/tokenizer.h"

namespace lumen {
namespace {

using Ids = std::vector<int32_t>;

std::string field(int number, std::string_view bytes) {
  return static_cast<char>(number << 3 | 2) + std::string(1, static_cast<char>(bytes.size())) + std::string(bytes);
}

std::string varint_field(int number, unsigned value) {
  std::string result;
  for (unsigned key = static_cast<unsigned>(number) << 3; key > 0; key >>= 7) {
    result += static_cast<char>((key & 0x7F) | (key > 0x7F ? 0x80 : 0));
  }
  return result + static_cast<char>(value);
}

// A piece of the model: text, score, type.
std::string piece(std::string_view text, float score, unsigned type = 1) {
  std::string bits(4, '\0');
  const auto word = std::bit_cast<uint32_t>(score);
  for (size_t k = 0; k < 4; ++k) bits[k] = static_cast<char>(word >> 8 * k);
  return field(1, field(1, text) + static_cast<char>(2 << 3 | 5) + bits + varint_field(3, type));
}

constexpr unsigned kUnigram = 1, kBpe = 2, kWord = 3;

std::string model(unsigned type, std::string_view normalizer = "") {
  return piece("<unk>", 0, 2) + piece("<s>", 0, 3) + piece("</s>", 0, 3) + piece("▁", -3) + piece("a", -4) +
         piece("b", -5) + piece("▁a", -1) + piece("ab", -2) + piece("<sep>", 0, 4) + field(2, varint_field(3, type)) +
         field(3, normalizer);
}

Expected<Tokenizer> read(std::string_view bytes) {
  return Tokenizer::from_sentencepiece(std::as_bytes(std::span(bytes.data(), bytes.size())));
}

TEST(SentencePiece, RefusesWhatIsNone) {
  EXPECT_EQ(read("").diag().str(), "SentencePiece model: no pieces in 0 bytes");
  EXPECT_EQ(read("\x0a").diag().str(), "SentencePiece model: truncated at byte 1");
  EXPECT_EQ(read("\x0a\x7f").diag().str(), "SentencePiece model: 127 bytes at byte 2, 0 are there");
  EXPECT_EQ(read("\x0b").diag().str(), "SentencePiece model: wire type 3 before byte 1");
  EXPECT_EQ(read(std::string_view("\0", 1)).diag().str(), "SentencePiece model: no field number before byte 1");
  EXPECT_EQ(read("{\"model\"").ok(), false);
  EXPECT_EQ(read(model(kWord)).diag().str(),
            "SentencePiece model: of type WORD or CHAR; BPE and UNIGRAM are supported");
  EXPECT_EQ(read(piece("a", 0)).diag().str(), "SentencePiece model: no piece is the unknown one");
  EXPECT_EQ(read(piece("a", 0, 9)).diag().str(), "SentencePiece model: piece \"a\" has type 9");
  EXPECT_EQ(read(piece("\xff", 0)).diag().str(), "SentencePiece model: a piece is not valid UTF-8");
  EXPECT_EQ(read(model(kBpe, field(2, "abc"))).diag().str(), "charsmap: 3 bytes, the size of its trie takes 4");
}

TEST(SentencePiece, EveryTruncationIsHandled) {
  const std::string whole = model(kUnigram);
  for (size_t size = 0; size < whole.size(); ++size) {
    const Expected<Tokenizer> tokenizer = read(std::string_view(whole).substr(0, size));
    EXPECT_TRUE(!tokenizer.ok() || tokenizer->encode("a b <sep>").ok());
  }
}

TEST(SentencePiece, Bpe) {
  const Tokenizer tokenizer = read(model(kBpe)).value();
  EXPECT_EQ(tokenizer.bos(), 1);
  EXPECT_EQ(tokenizer.eos(), 2);
  EXPECT_EQ(tokenizer.encode("ab").value(), (Ids{1, 6, 5})) << "▁a is better than ab";
  EXPECT_EQ(tokenizer.encode(" b  ab ", {false, false}).value(), (Ids{3, 5, 6, 5})) << "spaces in excess vanish";
  EXPECT_EQ(tokenizer.encode("a<sep>b", {false, false}).value(), (Ids{6, 8, 5}));
  EXPECT_EQ(tokenizer.encode("ax\xff", {false, false}).value(), (Ids{6, 0})) << "unknowns are one token";
  EXPECT_EQ(tokenizer.decode(Ids{1, 6, 5, 3, 4, 0, 2}), "ab a \u2047 ");
}

TEST(SentencePiece, Unigram) {
  const Tokenizer tokenizer = read(model(kUnigram)).value();
  EXPECT_EQ(tokenizer.encode("ab", {false, false}).value(), (Ids{3, 7})) << "-3 - 2 is more than -1 - 5";
  EXPECT_EQ(tokenizer.encode("a a", {false, false}).value(), (Ids{6, 6}));
  EXPECT_EQ(tokenizer.encode("<sep>", {false, false}).value(), (Ids{3, 8}));
  EXPECT_EQ(tokenizer.encode("<s>", {false, true}).value(), Ids{1});
  EXPECT_EQ(tokenizer.decode(Ids{6, 6}), "a a");
}

TEST(SentencePiece, UnigramSkipsUnusedPieces) {
  const Tokenizer tokenizer = read(model(kUnigram) + piece("aab", -1, 5)).value();
  EXPECT_EQ(tokenizer.encode("aab", {false, false}).value(), (Ids{6, 7}));
}

TEST(SentencePiece, UnigramPrefersWhatUsersDefine) {
  const Tokenizer tokenizer = read(model(kUnigram) + piece("bb", -90, 4) + piece("bba", 0)).value();
  EXPECT_EQ(tokenizer.encode("bba", {false, false}).value(), (Ids{3, 10})) << "0 is more than 0.1 - 4";
  EXPECT_EQ(tokenizer.encode("bbb", {false, false}).value(), (Ids{3, 5, 9})) << "more by a rounding";
}

}  // namespace
}  // namespace lumen
