// What the two parsers of chat templates (statements, expressions) read from.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lumen/text/template_ast.h"
#include "lumen/text/template_lexer.h"

namespace lumen::text {

class TemplateTokens {
 public:
  using Kind = TemplateToken::Kind;
  explicit TemplateTokens(std::vector<TemplateToken> tokens) : tokens_(std::move(tokens)) {}

  const TemplateToken& peek(size_t ahead = 0) const { return tokens_[std::min(at_ + ahead, tokens_.size() - 1)]; }
  const TemplateToken& take() { return tokens_[at_ + 1 < tokens_.size() ? at_++ : at_]; }
  int line() const { return peek().line; }

  bool is(Kind kind) const { return peek().kind == kind; }
  bool is_op(std::string_view text) const { return is(Kind::op) && peek().text == text; }
  bool is_name(std::string_view text) const { return is(Kind::name) && peek().text == text; }
  bool take_op(std::string_view text) { return is_op(text) && (take(), true); }
  bool take_name(std::string_view text) { return is_name(text) && (take(), true); }

  Expected<void> require_op(std::string_view text);
  Expected<void> require_name(std::string_view text);
  Expected<std::string> require_any_name();
  Expected<void> require(Kind kind);
  // `wanted` was wanted, something else is there.
  Diag unexpected(std::string_view wanted) const;

 private:
  std::vector<TemplateToken> tokens_;
  size_t at_ = 0;
};

// Parses one expression; `tuples` allows a, b without parentheses.
class TemplateExpressions {
 public:
  TemplateExpressions(TemplateTokens& tokens, Template& into) : tokens_(tokens), into_(into) {}
  Expected<const ExprNode*> parse(bool tuples = true);
  // Without an `if` behind it: what a `for` goes over.
  Expected<const ExprNode*> parse_without_choice();
  // (a, b=1): parameters of a macro.
  Expected<std::vector<std::pair<std::string, const ExprNode*>>> parse_parameters();
  // Filters of {% set x | filter %}, applied to a name.
  Expected<const ExprNode*> parse_filters(const ExprNode* value);
  ExprNode* make(ExprNode::Kind kind, std::vector<const ExprNode*> items = {}, std::string text = "");

 private:
  Expected<const ExprNode*> parse_choice();
  Expected<const ExprNode*> parse_or();
  Expected<const ExprNode*> parse_and();
  Expected<const ExprNode*> parse_not();
  Expected<const ExprNode*> parse_compare();
  Expected<const ExprNode*> parse_binary(size_t level);
  Expected<const ExprNode*> parse_unary(bool with_filters);
  Expected<const ExprNode*> parse_primary();
  Expected<const ExprNode*> parse_brackets();
  Expected<const ExprNode*> parse_dict();
  Expected<const ExprNode*> parse_postfix(const ExprNode* value);
  Expected<const ExprNode*> parse_subscript(const ExprNode* value);
  Expected<const ExprNode*> parse_test(const ExprNode* value);
  Expected<void> parse_arguments(ExprNode& call);
  Expected<const ExprNode*> parse_call(const ExprNode* callee);
  Expected<const ExprNode*> parse_items(ExprNode* list, std::string_view close);

  TemplateTokens& tokens_;
  Template& into_;
  int depth_ = 0;
};

}  // namespace lumen::text
