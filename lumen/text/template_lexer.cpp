#include "lumen/text/template_lexer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "lumen/text/normalizer.h"
#include "lumen/text/unicode.h"
#include "lumen/text/utf8.h"

namespace lumen::text {

namespace {

using TokenKind = TemplateToken::Kind;

constexpr std::array<std::string_view, 6> kLongOperators = {"//", "**", "==", "!=", ">=", "<="};
constexpr std::string_view kShortOperators = "+-*/%~<>=()[]{}.:|,;";

bool is_name_start(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  Expected<std::vector<TemplateToken>> run() {
    while (at_ < text_.size()) {
      LUMEN_TRY(lex_text());
      if (at_ >= text_.size()) break;
      const char kind = text_[at_ + 1];
      if (kind == '#') {
        LUMEN_TRY(skip_comment());
      } else if (kind == '%' && is_raw()) {
        LUMEN_TRY(lex_raw());
      } else {
        LUMEN_TRY(lex_tag(kind == '%'));
      }
    }
    add(TokenKind::end, "");
    return std::move(tokens_);
  }

 private:
  void add(TokenKind kind, std::string text) { tokens_.push_back({kind, std::move(text), line_}); }
  void advance(size_t end) {
    line_ += static_cast<int>(std::count(text_.begin() + static_cast<std::ptrdiff_t>(at_),
                                         text_.begin() + static_cast<std::ptrdiff_t>(end), '\n'));
    at_ = end;
  }
  char peek(size_t offset = 0) const { return at_ + offset < text_.size() ? text_[at_ + offset] : '\0'; }
  Diag bad(std::string_view message) const { return template_error(message, line_); }

  // Text up to the next tag, without what that tag strips from it.
  Expected<void> lex_text() {
    size_t end = at_;
    while (end < text_.size()) {
      end = text_.find('{', end);
      if (end == std::string_view::npos || end + 1 >= text_.size()) {
        end = text_.size();
      } else if (text_[end + 1] == '{' || text_[end + 1] == '%' || text_[end + 1] == '#') {
        break;
      } else {
        ++end;
      }
    }
    std::string_view data = text_.substr(at_, end - at_);
    if (end < text_.size()) data = data.substr(0, kept_before_tag(data, end));
    if (!data.empty()) add(TokenKind::text, std::string(data));
    advance(end);
    return {};
  }

  size_t kept_before_tag(std::string_view data, size_t tag) const {
    const char sign = tag + 2 < text_.size() ? text_[tag + 2] : '\0';
    if (sign == '-') return strip_spaces(data, false, true).size();
    if (sign == '+' || text_[tag + 1] == '{') return data.size();
    // Only white space between the start of the line and the tag: it goes.
    const size_t newline = data.rfind('\n');
    if (newline == std::string_view::npos && !line_starts_) return data.size();
    const size_t begin = newline == std::string_view::npos ? 0 : newline + 1;
    return strip_spaces(data.substr(begin), true, true).empty() ? begin : data.size();
  }

  // The end of a tag is at `end`: what it strips after it goes. `sign` stands before its bracket.
  void after_tag(char sign, size_t end, bool trims_newline) {
    const size_t before = end;
    if (sign == '-') {
      while (end < text_.size()) {
        const Utf8Char c = utf8_at(text_, end);
        if (!is_space(c.code)) break;
        end += c.size;
      }
    } else if (trims_newline && sign != '+' && end < text_.size() && text_[end] == '\n') {
      ++end;
    }
    line_starts_ = end > before && text_[end - 1] == '\n';
    advance(end);
  }

  Expected<void> skip_comment() {
    const size_t end = text_.find("#}", at_ + 2);
    if (end == std::string_view::npos) return bad("a comment {# is not closed");
    after_tag(text_[end - 1], end + 2, true);
    return {};
  }

  // Where the tag {% name %} at `begin` ends; npos when it is another. `sign` is that of its end.
  size_t end_of_plain_tag(size_t begin, std::string_view name, char& sign) const {
    size_t k = begin + 2;
    const auto skip = [&] {
      while (k < text_.size() && is_space(static_cast<unsigned char>(text_[k]))) ++k;
    };
    if (k < text_.size() && (text_[k] == '-' || text_[k] == '+')) ++k;
    skip();
    if (text_.substr(k, name.size()) != name) return std::string_view::npos;
    k += name.size();
    skip();
    sign = k < text_.size() ? text_[k] : '\0';
    if (sign == '-' || sign == '+') ++k;
    return text_.substr(k, 2) == "%}" ? k + 2 : std::string_view::npos;
  }

  bool is_raw() const {
    char sign = 0;
    return end_of_plain_tag(at_, "raw", sign) != std::string_view::npos;
  }

  Expected<void> lex_raw() {
    char sign = 0;
    const size_t begin = end_of_plain_tag(at_, "raw", sign);
    after_tag(sign, begin, false);
    for (size_t tag = text_.find("{%", at_); tag != std::string_view::npos; tag = text_.find("{%", tag + 2)) {
      const size_t end = end_of_plain_tag(tag, "endraw", sign);
      if (end == std::string_view::npos) continue;
      const std::string_view data = text_.substr(at_, tag - at_);
      add(TokenKind::text, std::string(data.substr(0, kept_before_tag(data, tag))));
      advance(tag);
      after_tag(sign, end, true);
      return {};
    }
    return bad("{% raw %} is not closed");
  }

  Expected<void> lex_tag(bool block) {
    add(block ? TokenKind::block_begin : TokenKind::print_begin, "");
    const std::string_view close = block ? "%}" : "}}";
    at_ += 2;
    if (peek() == '-' || peek() == '+') ++at_;
    size_t open = 0;  // brackets, so that }} in a dict is none of the tag's
    while (true) {
      while (at_ < text_.size() && is_space(utf8_at(text_, at_).code)) advance(at_ + utf8_at(text_, at_).size);
      if (at_ >= text_.size()) return bad(fmt::format("a tag is not closed by {}", close));
      const bool signed_end = (peek() == '-' || (block && peek() == '+')) && text_.substr(at_ + 1, 2) == close;
      if (open == 0 && (signed_end || text_.substr(at_, 2) == close)) break;
      LUMEN_TRY(lex_token(open));
    }
    const char sign = peek();
    add(block ? TokenKind::block_end : TokenKind::print_end, "");
    after_tag(sign, at_ + (text_.substr(at_, 2) == close ? 2 : 3), block);
    return {};
  }

  Expected<void> lex_token(size_t& open) {
    const char c = peek();
    if (is_name_start(c)) {
      const size_t begin = at_;
      while (is_name_start(peek()) || is_digit(peek())) ++at_;
      add(TokenKind::name, std::string(text_.substr(begin, at_ - begin)));
      return {};
    }
    if (is_digit(c)) {
      lex_number();
      return {};
    }
    if (c == '"' || c == '\'') return lex_string(c);
    const std::string_view two = text_.substr(at_, 2);
    if (std::find(kLongOperators.begin(), kLongOperators.end(), two) != kLongOperators.end()) {
      add(TokenKind::op, std::string(two));
      at_ += 2;
      return {};
    }
    if (kShortOperators.find(c) == std::string_view::npos) {
      return bad(fmt::format("unexpected character \"{}\"", text_.substr(at_, utf8_at(text_, at_).size)));
    }
    if (c == '(' || c == '[' || c == '{') ++open;
    if ((c == ')' || c == ']' || c == '}') && open > 0) --open;
    add(TokenKind::op, std::string(1, c));
    ++at_;
    return {};
  }

  void lex_number() {
    std::string digits;
    bool floating = false;
    const auto take = [&] {
      while (is_digit(peek()) || (peek() == '_' && is_digit(peek(1)))) {
        if (peek() != '_') digits += peek();
        ++at_;
      }
    };
    take();
    if (peek() == '.' && is_digit(peek(1))) {
      floating = true;
      digits += '.';
      ++at_;
      take();
    }
    const size_t sign = peek(1) == '+' || peek(1) == '-' ? 1 : 0;
    if ((peek() == 'e' || peek() == 'E') && is_digit(peek(1 + sign))) {
      floating = true;
      digits += text_.substr(at_, 1 + sign);
      at_ += 1 + sign;
      take();
    }
    add(floating ? TokenKind::number : TokenKind::integer, digits);
  }

  Expected<void> lex_string(char quote) {
    std::string value;
    const int line = line_;
    for (++at_; peek() != quote;) {
      if (at_ >= text_.size()) return template_error("a string is not closed", line);
      if (peek() == '\\') {
        LUMEN_TRY(lex_escape(value));
      } else {
        value += peek();
        advance(at_ + 1);
      }
    }
    ++at_;
    tokens_.push_back({TokenKind::string, std::move(value), line});
    return {};
  }

  Expected<void> lex_escape(std::string& value) {
    constexpr std::string_view kLetters = "nrtbfav0\\'\"";
    constexpr std::string_view kMeant = std::string_view("\n\r\t\b\f\a\v\0\\'\"", 11);
    const char letter = peek(1);
    const size_t digits = letter == 'x' ? 2 : letter == 'u' ? 4 : letter == 'U' ? 8 : 0;
    if (digits > 0) {
      char32_t code = 0;
      for (size_t k = 0; k < digits; ++k) {
        const char c = peek(2 + k);
        const int digit = is_digit(c)            ? c - '0'
                          : c >= 'a' && c <= 'f' ? c - 'a' + 10
                          : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                                 : -1;
        if (digit < 0) return bad(fmt::format("\\{} needs {} hexadecimal digits", letter, digits));
        code = code << 4 | static_cast<char32_t>(digit);
      }
      if (code > 0x10FFFF || (code >= 0xD800 && code < 0xE000)) return bad("an escape is no character");
      append_utf8(value, code);
      at_ += 2 + digits;
      return {};
    }
    const size_t known = letter == '\0' ? std::string_view::npos : kLetters.find(letter);
    if (known != std::string_view::npos) {
      value += kMeant[known];
      at_ += 2;
    } else if (letter == '\n') {
      advance(at_ + 2);
    } else {
      value += '\\';  // and what follows it stands for itself
      ++at_;
    }
    return {};
  }

  const std::string_view text_;
  size_t at_ = 0;
  int line_ = 1;
  bool line_starts_ = true;  // text_[at_] is the first of its line
  std::vector<TemplateToken> tokens_;
};

}  // namespace

Diag template_error(std::string_view message, int line) {
  return error(fmt::format("chat template, line {}: {}", line, message));
}

Expected<std::vector<TemplateToken>> lex_template(std::string_view text) {
  if (!utf8_valid(text)) return error("chat template: not valid UTF-8");
  // As Jinja reads a file: every line ends with \n, and the last such end is dropped.
  std::string lines = replace_all(replace_all(text, "\r\n", "\n"), "\r", "\n");
  if (lines.ends_with('\n')) lines.pop_back();
  return Lexer(lines).run();
}

}  // namespace lumen::text
