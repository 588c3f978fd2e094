#include <fmt/format.h>

#include <array>
#include <charconv>

#include "lumen/text/template_tokens.h"

namespace lumen::text {

namespace {

using ExprKind = ExprNode::Kind;
using TokenKind = TemplateToken::Kind;
using Expression = const ExprNode*;

constexpr int kMaxBracketDepth = 100;  // of brackets and the like

// Operators that bind ever more tightly.
constexpr std::array<std::array<std::string_view, 4>, 4> kLevels = {{{"+", "-"}, {"~"}, {"*", "/", "//", "%"}, {"**"}}};

}  // namespace

Diag TemplateTokens::unexpected(std::string_view wanted) const {
  const TemplateToken& token = peek();
  const std::string_view found = token.kind == Kind::end           ? "the end"
                                 : token.kind == Kind::block_end   ? "%}"
                                 : token.kind == Kind::print_end   ? "}}"
                                 : token.kind == Kind::block_begin ? "{%"
                                 : token.kind == Kind::print_begin ? "{{"
                                 : token.kind == Kind::text        ? "text"
                                                                   : std::string_view(token.text);
  return template_error(fmt::format("expected {}, found {}", wanted, found), token.line);
}

Expected<void> TemplateTokens::require_op(std::string_view text) {
  return take_op(text) ? Expected<void>() : unexpected(text);
}
Expected<void> TemplateTokens::require_name(std::string_view text) {
  return take_name(text) ? Expected<void>() : unexpected(text);
}
Expected<std::string> TemplateTokens::require_any_name() {
  return is(Kind::name) ? Expected<std::string>(take().text) : unexpected("a name");
}
Expected<void> TemplateTokens::require(Kind kind) {
  if (!is(kind)) return unexpected(kind == Kind::block_end ? "%}" : "}}");
  take();
  return {};
}

ExprNode* TemplateExpressions::make(ExprKind kind, std::vector<Expression> items, std::string text) {
  return &into_.expressions.emplace_back(ExprNode{kind, tokens_.line(), std::move(text), {}, std::move(items), {}, {}});
}

Expected<Expression> TemplateExpressions::parse(bool tuples) {
  const Expression first = LUMEN_TRY(parse_choice());
  if (!tuples || !tokens_.is_op(",")) return first;
  ExprNode* tuple = make(ExprKind::tuple, {first});
  while (tokens_.take_op(",")) {
    if (tokens_.is(TokenKind::block_end) || tokens_.is(TokenKind::print_end)) break;
    tuple->items.push_back(LUMEN_TRY(parse_choice()));
  }
  return Expression(tuple);
}

Expected<Expression> TemplateExpressions::parse_without_choice() {
  const Expression first = LUMEN_TRY(parse_or());
  if (!tokens_.is_op(",")) return first;
  ExprNode* tuple = make(ExprKind::tuple, {first});
  while (tokens_.take_op(",")) tuple->items.push_back(LUMEN_TRY(parse_or()));
  return Expression(tuple);
}

Expected<Expression> TemplateExpressions::parse_choice() {
  if (depth_ >= kMaxBracketDepth) return template_error("nested too deeply", tokens_.line());
  ++depth_;
  Expression value = LUMEN_TRY(parse_or());
  while (tokens_.take_name("if")) {
    const Expression condition = LUMEN_TRY(parse_or());
    const Expression otherwise = tokens_.take_name("else") ? LUMEN_TRY(parse_choice()) : nullptr;
    value = make(ExprKind::choice, {condition, value, otherwise});
  }
  --depth_;
  return value;
}

Expected<Expression> TemplateExpressions::parse_or() {
  Expression left = LUMEN_TRY(parse_and());
  while (tokens_.take_name("or")) left = make(ExprKind::either, {left, LUMEN_TRY(parse_and())});
  return left;
}

Expected<Expression> TemplateExpressions::parse_and() {
  Expression left = LUMEN_TRY(parse_not());
  while (tokens_.take_name("and")) left = make(ExprKind::both, {left, LUMEN_TRY(parse_not())});
  return left;
}

Expected<Expression> TemplateExpressions::parse_not() {
  size_t count = 0;
  while (tokens_.take_name("not")) ++count;
  Expression value = LUMEN_TRY(parse_compare());
  for (; count > 0; --count) value = make(ExprKind::unary, {value}, "not");
  return value;
}

Expected<Expression> TemplateExpressions::parse_compare() {
  const Expression first = LUMEN_TRY(parse_binary(0));
  ExprNode* compare = nullptr;
  while (true) {
    std::string op;
    for (const std::string_view known : {"==", "!=", "<=", ">=", "<", ">"}) {
      if (op.empty() && tokens_.take_op(known)) op = known;
    }
    if (op.empty() && tokens_.take_name("in")) op = "in";
    if (op.empty() && tokens_.is_name("not") && tokens_.peek(1).text == "in") {
      tokens_.take();
      tokens_.take();
      op = "not in";
    }
    if (op.empty()) return compare != nullptr ? Expression(compare) : first;
    if (compare == nullptr) compare = make(ExprKind::compare, {first});
    compare->operators.push_back(std::move(op));
    compare->items.push_back(LUMEN_TRY(parse_binary(0)));
  }
}

Expected<Expression> TemplateExpressions::parse_binary(size_t level) {
  if (level == kLevels.size()) return parse_unary(true);
  Expression left = LUMEN_TRY(parse_binary(level + 1));
  while (true) {
    std::string op;
    for (const std::string_view known : kLevels[level]) {
      if (op.empty() && !known.empty() && tokens_.take_op(known)) op = known;
    }
    if (op.empty()) return left;
    left = make(ExprKind::binary, {left, LUMEN_TRY(parse_binary(level + 1))}, std::move(op));
  }
}

Expected<Expression> TemplateExpressions::parse_unary(bool with_filters) {
  std::string signs;
  while (tokens_.is_op("-") || tokens_.is_op("+")) signs += tokens_.take().text;
  Expression value = LUMEN_TRY(parse_postfix(LUMEN_TRY(parse_primary())));
  for (; !signs.empty(); signs.pop_back()) value = make(ExprKind::unary, {value}, std::string(1, signs.back()));
  return with_filters ? parse_filters(value) : value;
}

Expected<Expression> TemplateExpressions::parse_primary() {
  if (tokens_.is(TokenKind::string)) {
    ExprNode* literal = make(ExprKind::literal);
    while (tokens_.is(TokenKind::string)) literal->text += tokens_.take().text;
    literal->value = Value::string(&literal->text);
    return Expression(literal);
  }
  if (tokens_.is(TokenKind::integer) || tokens_.is(TokenKind::number)) {
    ExprNode* literal = make(ExprKind::literal);
    const TemplateToken& token = tokens_.take();
    const char* const end = token.text.data() + token.text.size();
    int64_t integer = 0;
    double number = 0;
    const bool whole = token.kind == TokenKind::integer;
    const auto parsed =
        whole ? std::from_chars(token.text.data(), end, integer) : std::from_chars(token.text.data(), end, number);
    if (parsed.ec != std::errc()) return template_error(fmt::format("number {} is too large", token.text), token.line);
    literal->value = whole ? Value::integer(integer) : Value::number(number);
    return Expression(literal);
  }
  if (!tokens_.is(TokenKind::name)) return parse_brackets();
  const std::string name = tokens_.take().text;
  ExprNode* node = make(ExprKind::literal, {}, name);
  if (name == "true" || name == "True") {
    node->value = Value::boolean(true);
  } else if (name == "false" || name == "False") {
    node->value = Value::boolean(false);
  } else if (name == "none" || name == "None") {
    node->value = Value::none();
  } else {
    node->kind = ExprKind::name;
  }
  return Expression(node);
}

// Adds items up to `close`, which is taken.
Expected<Expression> TemplateExpressions::parse_items(ExprNode* list, std::string_view close) {
  while (!tokens_.take_op(close)) {
    if (!list->items.empty()) LUMEN_TRY(tokens_.require_op(","));
    if (tokens_.take_op(close)) break;
    list->items.push_back(LUMEN_TRY(parse_choice()));
  }
  return Expression(list);
}

Expected<Expression> TemplateExpressions::parse_brackets() {
  if (tokens_.take_op("[")) return parse_items(make(ExprKind::list), "]");
  if (tokens_.take_op("{")) return parse_dict();
  if (!tokens_.take_op("(")) return tokens_.unexpected("an expression");
  if (tokens_.take_op(")")) return Expression(make(ExprKind::tuple));
  const Expression first = LUMEN_TRY(parse_choice());
  if (tokens_.take_op(")")) return first;
  return parse_items(make(ExprKind::tuple, {first}), ")");
}

Expected<Expression> TemplateExpressions::parse_dict() {
  ExprNode* dict = make(ExprKind::dict);
  while (!tokens_.take_op("}")) {
    if (!dict->items.empty()) LUMEN_TRY(tokens_.require_op(","));
    if (tokens_.take_op("}")) break;
    dict->items.push_back(LUMEN_TRY(parse_choice()));
    LUMEN_TRY(tokens_.require_op(":"));
    dict->items.push_back(LUMEN_TRY(parse_choice()));
  }
  return Expression(dict);
}

Expected<Expression> TemplateExpressions::parse_call(Expression callee) {
  ExprNode* call = make(ExprKind::call, {callee});
  LUMEN_TRY(parse_arguments(*call));
  return Expression(call);
}

Expected<Expression> TemplateExpressions::parse_postfix(Expression value) {
  while (true) {
    if (tokens_.take_op(".")) {
      // x.0 is x[0].
      if (tokens_.is(TokenKind::integer)) {
        value = make(ExprKind::item, {value, LUMEN_TRY(parse_primary())});
      } else {
        std::string name = LUMEN_TRY(tokens_.require_any_name());
        value = make(ExprKind::attribute, {value}, std::move(name));
      }
    } else if (tokens_.take_op("[")) {
      value = LUMEN_TRY(parse_subscript(value));
    } else if (tokens_.is_op("(")) {
      value = LUMEN_TRY(parse_call(value));
    } else {
      return value;
    }
  }
}

Expected<Expression> TemplateExpressions::parse_subscript(Expression value) {
  std::vector<Expression> parts = {nullptr};
  while (!tokens_.is_op("]")) {
    if (tokens_.take_op(":")) {
      parts.push_back(nullptr);
    } else if (parts.back() == nullptr) {
      parts.back() = LUMEN_TRY(parse_choice());
    } else {
      return tokens_.unexpected("]");
    }
  }
  if (parts.size() > 3 || (parts.size() == 1 && parts[0] == nullptr)) return tokens_.unexpected("an index");
  LUMEN_TRY(tokens_.require_op("]"));
  if (parts.size() == 1) return Expression(make(ExprKind::item, {value, parts[0]}));
  parts.resize(3, nullptr);
  return Expression(make(ExprKind::slice, {value, parts[0], parts[1], parts[2]}));
}

Expected<void> TemplateExpressions::parse_arguments(ExprNode& call) {
  LUMEN_TRY(tokens_.require_op("("));
  bool first = true;
  while (!tokens_.take_op(")")) {
    if (!std::exchange(first, false)) LUMEN_TRY(tokens_.require_op(","));
    if (tokens_.take_op(")")) break;
    if (tokens_.is_op("*") || tokens_.is_op("**"))
      return template_error("* in a call is not supported", tokens_.line());
    if (tokens_.is(TokenKind::name) && tokens_.peek(1).kind == TokenKind::op && tokens_.peek(1).text == "=") {
      std::string name = tokens_.take().text;
      tokens_.take();
      call.named.emplace_back(std::move(name), LUMEN_TRY(parse_choice()));
    } else {
      call.items.push_back(LUMEN_TRY(parse_choice()));
    }
  }
  return {};
}

Expected<std::vector<std::pair<std::string, Expression>>> TemplateExpressions::parse_parameters() {
  std::vector<std::pair<std::string, Expression>> parameters;
  LUMEN_TRY(tokens_.require_op("("));
  while (!tokens_.take_op(")")) {
    if (!parameters.empty()) LUMEN_TRY(tokens_.require_op(","));
    if (tokens_.take_op(")")) break;
    std::string name = LUMEN_TRY(tokens_.require_any_name());
    const Expression otherwise = tokens_.take_op("=") ? LUMEN_TRY(parse_choice()) : nullptr;
    parameters.emplace_back(std::move(name), otherwise);
  }
  return parameters;
}

Expected<Expression> TemplateExpressions::parse_filters(Expression value) {
  while (true) {
    if (tokens_.take_op("|")) {
      ExprNode* filter = make(ExprKind::filter, {value}, LUMEN_TRY(tokens_.require_any_name()));
      if (tokens_.is_op("(")) LUMEN_TRY(parse_arguments(*filter));
      value = filter;
    } else if (tokens_.take_name("is")) {
      value = LUMEN_TRY(parse_test(value));
    } else if (tokens_.is_op("(")) {
      value = LUMEN_TRY(parse_call(value));
    } else {
      return value;
    }
  }
}

Expected<Expression> TemplateExpressions::parse_test(Expression value) {
  const bool negated = tokens_.take_name("not");
  ExprNode* test = make(ExprKind::test, {value}, LUMEN_TRY(tokens_.require_any_name()));
  const TemplateToken& next = tokens_.peek();
  const bool keyword = next.kind == TokenKind::name &&
                       (next.text == "else" || next.text == "or" || next.text == "and" || next.text == "is" ||
                        next.text == "if" || next.text == "in" || next.text == "not");
  const bool operand = (next.kind == TokenKind::name && !keyword) || next.kind == TokenKind::string ||
                       next.kind == TokenKind::integer || next.kind == TokenKind::number || tokens_.is_op("[") ||
                       tokens_.is_op("{");
  if (tokens_.is_op("(")) {
    LUMEN_TRY(parse_arguments(*test));
  } else if (operand) {
    test->items.push_back(LUMEN_TRY(parse_postfix(LUMEN_TRY(parse_primary()))));
  }
  return negated ? Expression(make(ExprKind::unary, {test}, "not")) : Expression(test);
}

}  // namespace lumen::text
