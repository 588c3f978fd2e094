#include "lumen/egraph/lang/sexp.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>

namespace lumen::egraph {

namespace {

constexpr size_t kMaxNesting = 4000;

enum CharClass : uint8_t { kBlank = 1, kEndsAtom = 2, kDigit = 4 };
constexpr std::array<uint8_t, 256> kClasses = [] {
  std::array<uint8_t, 256> classes{};
  for (const char c : {' ', '\t', '\n', '\v', '\f', '\r'}) classes[static_cast<size_t>(c)] = kBlank | kEndsAtom;
  for (const char c : {'(', ')', ';'}) classes[static_cast<size_t>(c)] = kEndsAtom;
  for (char c = '0'; c <= '9'; ++c) classes[static_cast<size_t>(c)] = kDigit;
  return classes;
}();
bool is(char c, CharClass char_class) { return (kClasses[static_cast<unsigned char>(c)] & char_class) != 0; }

bool classify_integer(std::string_view digits, Sexp& node) {
  const char* end = digits.data() + digits.size();
  const auto [stop, code] = std::from_chars(digits.data(), end, node.integer);
  if (code != std::errc() || stop != end) return false;
  node.kind = Sexp::Kind::integer;
  return true;
}

bool classify_real(std::string_view digits, Sexp& node) {
  double value = 0;
  const char* end = digits.data() + digits.size();
  const auto [stop, code] = std::from_chars(digits.data(), end, value);
  if (stop != end) return false;
  // from_chars does not tell too large (a name) from too small (zero).
  if (code == std::errc::result_out_of_range) value = std::strtod(std::string(digits).c_str(), nullptr);
  if (!std::isfinite(value)) return false;
  node.kind = Sexp::Kind::real;
  node.real = value;
  return true;
}

// A number starts with a digit, after a sign and a point at most.
bool looks_like_number(std::string_view text) {
  size_t at = text[0] == '+' || text[0] == '-' ? 1 : 0;
  if (at < text.size() && text[at] == '.') ++at;
  return at < text.size() && is(text[at], kDigit);
}

bool classify_word(std::string_view text, Sexp& node) {
  if (text == "true" || text == "false") {
    node.kind = Sexp::Kind::boolean;
    node.boolean = text == "true";
  } else if (text == "NaN") {
    node.kind = Sexp::Kind::real;
    node.real = std::numeric_limits<double>::quiet_NaN();
  } else if (text == "inf" || text == "-inf") {
    node.kind = Sexp::Kind::real;
    node.real = text[0] == '-' ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::infinity();
  } else {
    return false;
  }
  return true;
}

bool continues_name(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is(c, kDigit) || c == '_'; }

}  // namespace

Expected<const Sexp*> SexpReader::next() {
  if (text_.size() >= std::numeric_limits<uint32_t>::max()) return error(source_.file + ": a text of 4 GiB or more");
  nodes_.clear();
  skip_blanks();
  if (at_ == text_.size()) return nullptr;
  do {
    LUMEN_TRY(token());
    skip_blanks();
  } while (!open_.empty() && at_ < text_.size());
  if (!open_.empty()) {
    const uint32_t begin = nodes_[open_.back()].begin;
    return error_at(span(begin, begin + 1), "this `(` is not closed before the end of the text");
  }
  return nodes_.data();
}

void SexpReader::skip_blanks() {
  while (at_ < text_.size()) {
    if (is(text_[at_], kBlank)) {
      ++at_;
    } else if (text_[at_] == ';') {
      at_ = std::min(text_.find('\n', at_), text_.size());
    } else {
      return;
    }
  }
}

Sexp& SexpReader::add(Sexp::Kind kind, size_t begin) {
  Sexp& node = nodes_.emplace_back();
  node.kind = kind;
  node.begin = static_cast<uint32_t>(begin);
  node.end = static_cast<uint32_t>(at_);
  return node;
}

Expected<void> SexpReader::token() {
  switch (text_[at_]) {
    case '(':
      return open();
    case ')':
      return close();
    case '"':
      return string();
    default:
      atom();
      return {};
  }
}

Expected<void> SexpReader::open() {
  if (++depth_ > kMaxNesting) {
    return error_at(span(at_, at_ + 1), "brackets nest deeper than " + std::to_string(kMaxNesting));
  }
  open_.push_back(static_cast<uint32_t>(nodes_.size()));
  add(Sexp::Kind::list, at_++);
  return {};
}

Expected<void> SexpReader::close() {
  ++at_;
  if (open_.empty()) return error_at(span(at_ - 1, at_), "this `)` closes nothing");
  --depth_;
  close_top();
  if (!open_.empty() && nodes_[open_.back()].kind == Sexp::Kind::label) close_top();
  return {};
}

void SexpReader::close_top() {
  Sexp& node = nodes_[open_.back()];
  node.size = static_cast<uint32_t>(nodes_.size()) - open_.back();
  node.end = static_cast<uint32_t>(at_);
  open_.pop_back();
}

void SexpReader::atom() {
  const size_t begin = at_;
  do {
    ++at_;
  } while (at_ < text_.size() && !is(text_[at_], kEndsAtom));
  const std::string_view text = text_.substr(begin, at_ - begin);
  if (text.size() > 1 && text.back() == ':' && at_ < text_.size() && text_[at_] == '(') {
    open_.push_back(static_cast<uint32_t>(nodes_.size()));
    add(Sexp::Kind::label, begin).text = text.substr(0, text.size() - 1);
  } else {
    classify(text, add(Sexp::Kind::atom, begin));
  }
}

Expected<void> SexpReader::string() {
  const size_t begin = at_++;
  std::string unescaped;
  bool escapes = false;
  while (true) {
    const size_t stop = text_.find_first_of("\"\\", at_);
    if (stop == std::string_view::npos) return error_at(span(begin, begin + 1), "this string has no closing `\"`");
    if (text_[stop] == '"' && !escapes) {
      const std::string_view text = text_.substr(at_, stop - at_);
      at_ = stop + 1;
      add(Sexp::Kind::string, begin).text = text;
      return {};
    }
    unescaped += text_.substr(at_, stop - at_);
    at_ = stop + 1;
    if (text_[stop] == '"') break;
    escapes = true;
    unescaped += LUMEN_TRY(escape());
  }
  add(Sexp::Kind::string, begin).text = source_.arena.copy(unescaped);
  return {};
}

// After the backslash.
Expected<char> SexpReader::escape() {
  const size_t begin = at_ - 1;
  switch (at_ < text_.size() ? text_[at_++] : '\0') {
    case 'n':
      return '\n';
    case 't':
      return '\t';
    case '\\':
      return '\\';
    case '"':
      return '"';
    default:
      return error_at(span(begin, at_), "unknown escape `" + std::string(text_.substr(begin, at_ - begin)) +
                                            "` in a string; known are \\n, \\t, \\\\ and \\\"");
  }
}

bool classify(std::string_view text, Sexp& node) {
  node.kind = Sexp::Kind::atom;
  node.text = text;
  if (text.empty()) return true;
  if (looks_like_number(text)) {
    const std::string_view digits = text[0] == '+' ? text.substr(1) : text;
    return !classify_integer(digits, node) && !classify_real(digits, node);
  }
  return !classify_word(text, node);
}

std::string replace_parameter(std::string_view text, std::string_view parameter, std::string_view value) {
  std::string result;
  size_t done = 0;
  for (size_t at = text.find(parameter); at != std::string_view::npos; at = text.find(parameter, at + 1)) {
    const size_t after = at + parameter.size();
    if (at < done || (after < text.size() && continues_name(text[after]))) continue;
    result += text.substr(done, at - done);
    result += value;
    done = after;
  }
  result += text.substr(done);
  return result;
}

}  // namespace lumen::egraph
