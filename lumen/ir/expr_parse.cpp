// The grammar of expressions, loosest first: or; and; not; < <= > >= == !=; + -; * / %; unary -; primary.
// A primary is an integer, a name, i0 i1 …, (…), min(…), max(…), product(…), ceil_div(a, b) or undefined.
#include <fmt/format.h>

#include <charconv>

#include "lumen/ir/expr.h"
#include "lumen/ir/text_chars.h"

namespace lumen {
namespace {

constexpr int kMaxNesting = 64;

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r'; }

class Parser {
 public:
  Parser(std::string_view text, const ExprScope& scope) : text_(text), scope_(scope) {}
  size_t position() const { return at_; }

  Expected<Expr> disjunction() {
    if (++depth_ > kMaxNesting) return fail("the expression is nested too deeply");
    Expr e = LUMEN_TRY(conjunction());
    while (take_word("or")) e = logical_or(e, LUMEN_TRY(conjunction()));
    --depth_;
    return e;
  }

 private:
  using Combine = Expr (*)(Expr, Expr);

  Diag fail(std::string message) const {
    Diag d = error(std::move(message));
    d.where.line = 1;
    d.where.column = static_cast<int>(at_) + 1;
    return d;
  }

  void skip_space() {
    while (at_ < text_.size() && is_space(text_[at_])) ++at_;
  }
  std::string_view peek_word() {
    skip_space();
    if (at_ >= text_.size() || !is_word_start(text_[at_])) return {};
    size_t end = at_;
    while (end < text_.size() && is_word(text_[end])) ++end;
    return text_.substr(at_, end - at_);
  }
  bool take_word(std::string_view word) {
    if (peek_word() != word) return false;
    at_ += word.size();
    return true;
  }
  bool take(std::string_view token) {
    skip_space();
    if (!text_.substr(at_).starts_with(token)) return false;
    at_ += token.size();
    return true;
  }
  // A minus that is the arrow of the graph text is not ours.
  bool take_minus() {
    skip_space();
    return !text_.substr(at_).starts_with("->") && take("-");
  }

  Expected<Expr> conjunction() {
    Expr e = LUMEN_TRY(negation());
    while (take_word("and")) e = logical_and(e, LUMEN_TRY(negation()));
    return e;
  }

  Expected<Expr> negation() {
    if (!take_word("not")) return comparison();
    if (++depth_ > kMaxNesting) return fail("the expression is nested too deeply");
    const Expr e = logical_not(LUMEN_TRY(negation()));
    --depth_;
    return e;
  }

  Expected<Expr> comparison() {
    const Expr a = LUMEN_TRY(sum());
    static constexpr std::pair<std::string_view, Combine> kOps[] = {{"<=", le}, {">=", ge}, {"==", eq},
                                                                    {"!=", ne}, {"<", lt},  {">", gt}};
    for (const auto& [token, op] : kOps) {
      if (take(token)) return op(a, LUMEN_TRY(sum()));
    }
    return a;
  }

  Expected<Expr> sum() {
    Expr e = LUMEN_TRY(term());
    while (true) {
      if (take("+")) {
        e = e + LUMEN_TRY(term());
      } else if (take_minus()) {
        e = e - LUMEN_TRY(term());
      } else {
        return e;
      }
    }
  }

  Expected<Expr> term() {
    Expr e = LUMEN_TRY(unary());
    while (true) {
      if (take("*")) {
        e = e * LUMEN_TRY(unary());
      } else if (take("/")) {
        e = floor_div(e, LUMEN_TRY(unary()));
      } else if (take("%")) {
        e = mod(e, LUMEN_TRY(unary()));
      } else {
        return e;
      }
    }
  }

  Expected<Expr> unary() {
    if (!take_minus()) return primary();
    if (at_ < text_.size() && is_digit(text_[at_])) return integer(true);
    if (++depth_ > kMaxNesting) return fail("the expression is nested too deeply");
    const Expr e = -LUMEN_TRY(unary());
    --depth_;
    return e;
  }

  Expected<Expr> integer(bool negative) {
    const size_t start = at_;
    while (at_ < text_.size() && is_digit(text_[at_])) ++at_;
    const std::string digits = (negative ? "-" : "") + std::string(text_.substr(start, at_ - start));
    int64_t value = 0;
    if (std::from_chars(digits.data(), digits.data() + digits.size(), value).ec != std::errc{}) {
      at_ = start;
      return fail(fmt::format("{} does not fit 64 bits", digits));
    }
    return Expr(value);
  }

  Expected<Expr> primary() {
    skip_space();
    if (at_ < text_.size() && is_digit(text_[at_])) return integer(false);
    if (take("(")) {
      const Expr e = LUMEN_TRY(disjunction());
      if (!take(")")) return fail("expected )");
      return e;
    }
    const std::string_view word = peek_word();
    if (word.empty()) return fail("expected an expression");
    static constexpr std::pair<std::string_view, Combine> kCalls[] = {
        {"min", min}, {"max", max}, {"product", [](Expr a, Expr b) { return a * b; }}, {"ceil_div", ceil_div}};
    for (const auto& [name, combine] : kCalls) {
      if (word == name) return call(name, combine);
    }
    return variable(word);
  }

  Expected<Expr> call(std::string_view name, Combine combine) {
    at_ += name.size();
    if (!take("(")) return fail(fmt::format("expected ( after {}", name));
    Expr e = LUMEN_TRY(disjunction());
    while (take(",")) e = combine(e, LUMEN_TRY(disjunction()));
    if (!take(")")) return fail("expected , or )");
    return e;
  }

  Expected<Expr> variable(std::string_view word) {
    if (word == "undefined") {
      at_ += word.size();
      return Expr::undefined();
    }
    size_t k = 0;
    const std::from_chars_result digits = std::from_chars(word.data() + 1, word.data() + word.size(), k);
    const bool coordinate = word.size() > 1 && word[0] == 'i' && digits.ptr == word.end();
    if (coordinate) {
      if (digits.ec != std::errc{} || k >= scope_.extents.size()) {
        return fail(fmt::format("{} is not a coordinate here: there are {} dims", word, scope_.extents.size()));
      }
      at_ += word.size();
      return Expr::index(static_cast<int>(k), scope_.extents[k]);
    }
    if (scope_.dim) {
      if (const std::optional<Expr> e = scope_.dim(word)) {
        at_ += word.size();
        return *e;
      }
    }
    return fail(fmt::format("unknown dim {}", word));
  }

  std::string_view text_;
  const ExprScope& scope_;
  size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

Expected<Expr> parse_expr(std::string_view& text, const ExprScope& scope) {
  Parser parser(text, scope);
  const Expr e = LUMEN_TRY(parser.disjunction());
  text.remove_prefix(parser.position());
  return e;
}

}  // namespace lumen
