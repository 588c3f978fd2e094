#include "lumen/text/bpe.h"

#include <gtest/gtest.h>

#include <limits>

namespace lumen::text {
namespace {

// Merges as the definition says: look at all pairs, take the best, again.
std::vector<int32_t> naive_merge(const Vocabulary& vocabulary,
                                 const std::vector<std::pair<std::string, std::string>>& merges,
                                 std::string_view word) {
  std::vector<std::string> parts;
  for (const char c : word) parts.emplace_back(1, c);
  while (true) {
    size_t best = std::numeric_limits<size_t>::max(), at = 0;
    for (size_t k = 0; k + 1 < parts.size(); ++k) {
      for (size_t rank = 0; rank < merges.size(); ++rank) {
        if (merges[rank] == std::pair(parts[k], parts[k + 1]) && rank < best) best = rank, at = k;
      }
    }
    if (best == std::numeric_limits<size_t>::max()) break;
    parts[at] += parts[at + 1];
    parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(at) + 1);
  }
  std::vector<int32_t> ids;
  for (const std::string& part : parts) ids.push_back(vocabulary.find(part).value());
  return ids;
}

TEST(Bpe, IsTheNaiveAlgorithm) {
  uint64_t random = 7;
  const auto next = [&](size_t below) {
    random = random * 6364136223846793005 + 1442695040888963407;
    return static_cast<size_t>(random >> 33) % below;
  };
  for (int trial = 0; trial < 60; ++trial) {
    const auto vocabulary = std::make_shared<Vocabulary>();
    std::vector<std::string> texts = {"a", "b", "c"};
    std::vector<std::pair<std::string, std::string>> merges;
    for (const std::string& text : texts) vocabulary->append(text);
    for (int k = 0; k < 25; ++k) {
      std::string left = texts[next(texts.size())], right = texts[next(texts.size())];
      if (vocabulary->find(left + right)) continue;
      texts.push_back(left + right);
      vocabulary->append(texts.back());
      merges.emplace_back(std::move(left), std::move(right));
    }
    const std::vector<std::pair<std::string_view, std::string_view>> views(merges.begin(), merges.end());
    const auto bpe = Bpe::from_merges(vocabulary, views, {}).value();
    Scratch scratch;
    for (int k = 0; k < 50; ++k) {
      std::string word;
      for (size_t size = 1 + next(40); size > 0; --size) word += static_cast<char>('a' + next(3));
      std::vector<int32_t> ids;
      ASSERT_TRUE(bpe->encode(word, scratch, ids).ok());
      ASSERT_EQ(ids, naive_merge(*vocabulary, merges, word)) << trial << ": " << word;
    }
  }
}

TEST(Bpe, ByteTokens) {
  EXPECT_EQ(byte_token(10), "<0x0A>");
  EXPECT_EQ(byte_of_token("<0xfF>"), std::nullopt);
  EXPECT_EQ(byte_of_token("<0xFF>"), 255);
  EXPECT_EQ(byte_of_token("<0xF>"), std::nullopt);
}

TEST(Bpe, EqualScoresMergeFromTheLeft) {
  const auto vocabulary = std::make_shared<Vocabulary>();
  for (const char* text : {"a", "aa", "b"}) vocabulary->append(text);
  const std::vector<std::optional<float>> scores = {-1.0F, -2.0F, -3.0F};
  const auto bpe = Bpe::from_scores(vocabulary, scores, {});
  Scratch scratch;
  std::vector<int32_t> ids;
  ASSERT_TRUE(bpe->encode("aaab", scratch, ids).ok());
  EXPECT_EQ(ids, (std::vector<int32_t>{1, 0, 2}));
}

TEST(Bpe, LongWordsAreNotQuadratic) {
  const auto vocabulary = std::make_shared<Vocabulary>();
  for (const char* text : {"a", "aa", "aaaa"}) vocabulary->append(text);
  const std::pair<std::string_view, std::string_view> merges[] = {{"a", "a"}, {"aa", "aa"}};
  const auto bpe = Bpe::from_merges(vocabulary, merges, {}).value();
  Scratch scratch;
  std::vector<int32_t> ids;
  ASSERT_TRUE(bpe->encode(std::string(1 << 20, 'a'), scratch, ids).ok());  // would take minutes
  EXPECT_EQ(ids, std::vector<int32_t>(1 << 18, 2));
}

}  // namespace
}  // namespace lumen::text
