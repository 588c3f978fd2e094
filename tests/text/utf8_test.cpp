#include "lumen/text/utf8.h"

#include <gtest/gtest.h>

#include "lumen/text/regex.h"
#include "lumen/text/unicode.h"

namespace lumen::text {
namespace {

TEST(Utf8, RefusesWhatTheStandardRefuses) {
  for (const char* bad : {"\x80", "\xC0\xAF", "\xC1\x81", "\xE0\x80\x80", "\xED\xA0\x80", "\xF0\x80\x80\x80",
                          "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xFF", "\xE4\xBD", "\xF0\x9F\x98"}) {
    EXPECT_FALSE(utf8_valid(bad));
  }
  for (const char* good : {"", "a", "é", "你", "😀", "\xED\x9F\xBF", "\xEE\x80\x80", "\xF4\x8F\xBF\xBF"}) {
    EXPECT_TRUE(utf8_valid(good));
  }
}

TEST(Utf8, ReplacesLongestPrefixesOrBytes) {
  EXPECT_EQ(replace_invalid("a\xE4\xBD"
                            "b"),
            "a\uFFFDb");
  EXPECT_EQ(replace_invalid_bytes("a\xE4\xBD"
                                  "b"),
            "a\uFFFD\uFFFDb");
  EXPECT_EQ(replace_invalid("\xF0\x9F\x98\xF0"), "\uFFFD\uFFFD");
  EXPECT_EQ(replace_invalid("\xED\xA0\x80"), "\uFFFD\uFFFD\uFFFD") << "a surrogate has no valid prefix of two bytes";
}

TEST(Utf8, EveryCharacterRoundTrips) {
  for (char32_t code = 0; code <= 0x10FFFF; code += code < 0x3000 ? 1 : 37) {
    if (code >= 0xD800 && code < 0xE000) continue;
    std::string text;
    append_utf8(text, code);
    const Utf8Char c = utf8_at(text, 0);
    ASSERT_TRUE(c.valid && c.code == code && c.size == text.size() && utf8_size(text, 0) == c.size) << uint32_t{code};
  }
}

TEST(Regex, MeansWhatTokenizersMean) {
  const auto matches = [](std::string_view pattern, std::string_view text) {
    const Regex regex = Regex::compile(pattern).value();
    Regex::Finder finder(regex, text);
    Regex::Match match{};
    return finder.next(match).value() && match.begin == 0 && match.end == text.size();
  };
  EXPECT_FALSE(matches(R"(\s)", "\u180E")) << "no white space since Unicode 6.3";
  EXPECT_TRUE(matches(R"(\s)", "\u0085"));
  EXPECT_TRUE(matches(R"([^\S]+)", "\u2003\u3000"));
  EXPECT_TRUE(matches(R"(\w+)", "a\u0301_ⅷ"));
  EXPECT_FALSE(matches(R"(a$)", "a\n"));
  EXPECT_TRUE(matches(R"((?i:'s))", "'\u017F"));
  EXPECT_TRUE(matches(R"([]x]+)", "]x"));
  EXPECT_EQ(Regex::compile("a{2").ok(), true);
  EXPECT_FALSE(Regex::compile("\\C").ok()) << "half a character";
  EXPECT_FALSE(Regex::compile("\xff").ok());
}

TEST(Unicode, Graphemes) {
  const std::string text = "e\u0301👩‍👩‍👧🇫🇷x";
  std::vector<size_t> ends;
  for (size_t at = 0; at < text.size();) ends.push_back(at = grapheme_end(text, at));
  EXPECT_EQ(ends, (std::vector<size_t>{3, 21, 29, 30}));
}

}  // namespace
}  // namespace lumen::text
