#include "lumen/ir/text_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "lumen/ir/text_chars.h"

namespace lumen {

namespace {

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }
std::string_view word_at_start(std::string_view text) {
  const auto end = std::find_if_not(text.begin(), text.end(), is_word);
  return text.substr(0, static_cast<size_t>(end - text.begin()));
}

}  // namespace

void TextReader::skip_blanks() {
  while (at_ < text_.size()) {
    if (is_blank(text_[at_])) {
      ++at_;
    } else if (text_[at_] == '#') {
      at_ = std::min(text_.find('\n', at_), text_.size());
    } else {
      return;
    }
  }
}

bool TextReader::at_end() {
  skip_blanks();
  return at_ == text_.size();
}

size_t TextReader::position() {
  skip_blanks();
  return at_;
}

bool TextReader::accept(std::string_view token) {
  skip_blanks();
  if (!rest().starts_with(token)) return false;
  at_ += token.size();
  return true;
}

bool TextReader::accept_word(std::string_view word) {
  skip_blanks();
  if (word_at_start(rest()) != word) return false;
  at_ += word.size();
  return true;
}

Expected<void> TextReader::expect(std::string_view token) {
  if (!accept(token)) return fail(fmt::format("expected `{}`, got {}", token, next_shown()));
  return {};
}

Expected<std::string_view> TextReader::word(std::string_view what) {
  skip_blanks();
  const std::string_view found = word_at_start(rest());
  if (found.empty()) return fail(fmt::format("expected {}, got {}", what, next_shown()));
  at_ += found.size();
  return found;
}

std::string TextReader::next_shown() {
  if (at_end()) return "the end of the text";
  const std::string_view found = word_at_start(rest());
  if (!found.empty()) return fmt::format("`{}`", found.substr(0, 40));
  const char c = rest()[0];
  if (c < 0x20 || c == 0x7f) return fmt::format("the byte 0x{:02x}", static_cast<unsigned char>(c));
  return fmt::format("`{}`", c);
}

template <class Number>
Expected<Number> TextReader::number(std::string_view what) {
  skip_blanks();
  const std::string_view text = rest();
  const size_t sign = text.starts_with('-') ? 1 : 0;
  const bool spelled = text.substr(sign).starts_with("nan") || text.substr(sign).starts_with("inf");
  Number value{};
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  const auto length = static_cast<size_t>(end - text.data());
  const std::string_view tail = text.substr(length);
  const bool starts = sign < text.size() && (is_digit(text[sign]) || spelled);
  const bool ends = tail.empty() || !is_word(tail[0]) || tail.starts_with("..");
  if (!starts || !ends || code == std::errc::invalid_argument) {
    return fail(fmt::format("expected {}, got {}", what, next_shown()));
  }
  if (code == std::errc::result_out_of_range) {
    return fail(fmt::format("{} is out of range for {}", text.substr(0, std::min<size_t>(length, 40)), what));
  }
  at_ += length;
  return value;
}

Expected<int64_t> TextReader::integer() { return number<int64_t>("an integer"); }
Expected<uint64_t> TextReader::unsigned_integer() { return number<uint64_t>("an unsigned integer"); }
Expected<double> TextReader::real() { return number<double>("a number"); }

Expected<std::string> TextReader::escape() {
  const size_t start = at_ - 1;
  const char c = at_ < text_.size() ? text_[at_++] : '\0';
  switch (c) {
    case '"':
    case '\\':
      return std::string(1, c);
    case 'n':
      return std::string("\n");
    case 'r':
      return std::string("\r");
    case 't':
      return std::string("\t");
    case 'x': {
      unsigned char code = 0;
      const std::string_view digits = text_.substr(at_, 2);
      const auto end = std::from_chars(digits.data(), digits.data() + digits.size(), code, 16).ptr;
      if (digits.size() == 2 && end == digits.data() + 2) {
        at_ += 2;
        return std::string(1, static_cast<char>(code));
      }
      break;
    }
    default:
      break;
  }
  return fail("an escape is one of \\\" \\\\ \\n \\r \\t \\xNN", start);
}

Expected<std::string> TextReader::string(std::string_view what) {
  const size_t start = position();
  if (!accept("\"")) return fail(fmt::format("expected {} in double quotes, got {}", what, next_shown()));
  std::string value;
  while (at_ < text_.size() && text_[at_] != '\n') {
    const char c = text_[at_++];
    if (c == '"') return value;
    if (c == '\\') {
      value += LUMEN_TRY(escape());
    } else {
      value += c;
    }
  }
  return fail("the string does not end on its line", start);
}

Diag TextReader::fail(std::string message, size_t at) const {
  const std::string_view before = text_.substr(0, at);
  const size_t start = before.rfind('\n') + 1;  // npos + 1 is 0
  const size_t end = std::min(text_.find('\n', at), text_.size());
  Diag diag = error(std::move(message));
  diag.where = {std::string(file_), static_cast<int>(std::count(before.begin(), before.end(), '\n')) + 1,
                static_cast<int>(at - start) + 1};
  // Of a long line only what is around the place.
  constexpr size_t kShown = 100;
  const size_t from = at - start > kShown ? at - kShown / 2 : start;
  std::string line(text_.substr(from, std::min(end - from, kShown + kShown / 2)));
  std::replace_if(
      line.begin(), line.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; }, ' ');
  return std::move(diag).note(std::move(line)).note(std::string(at - from, ' ') + "^");
}

}  // namespace lumen
