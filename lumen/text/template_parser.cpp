#include "lumen/text/template_parser.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <span>

#include "lumen/text/template_tokens.h"

namespace lumen::text {

namespace {

using StatementKind = StatementNode::Kind;
using TokenKind = TemplateToken::Kind;

constexpr int kMaxBlockDepth = 100;
constexpr std::string_view kTags[] = {"if", "for", "set", "macro", "generation", "break", "continue", "raw"};

class Parser {
 public:
  Parser(std::vector<TemplateToken> tokens, Template& into)
      : tokens_(std::move(tokens)), into_(into), expressions_(tokens_, into) {}

  Expected<void> run() {
    into_.body = LUMEN_TRY(parse_body({}));
    return {};
  }

 private:
  StatementNode* make(StatementKind kind) {
    StatementNode* node = &into_.statements.emplace_back();
    node->kind = kind;
    node->line = tokens_.line();
    return node;
  }

  // Up to a tag that starts with one of `ends`; its {% and name are taken, the name is in end_.
  Expected<Body> parse_body(std::span<const std::string_view> ends) {
    if (++depth_ > kMaxBlockDepth) return template_error("nested too deeply", tokens_.line());
    Body body;
    while (true) {
      if (tokens_.is(TokenKind::text)) {
        StatementNode* text = make(StatementKind::text);
        text->text = tokens_.take().text;
        body.push_back(text);
      } else if (tokens_.is(TokenKind::print_begin)) {
        tokens_.take();
        StatementNode* print = make(StatementKind::print);
        print->value = LUMEN_TRY(expressions_.parse());
        LUMEN_TRY(tokens_.require(TokenKind::print_end));
        body.push_back(print);
      } else if (tokens_.is(TokenKind::block_begin)) {
        tokens_.take();
        const int line = tokens_.line();
        end_ = LUMEN_TRY(tokens_.require_any_name());
        if (std::find(ends.begin(), ends.end(), end_) != ends.end()) break;
        body.push_back(LUMEN_TRY(parse_tag(end_, line)));
      } else if (ends.empty()) {
        break;
      } else {
        return tokens_.unexpected(fmt::format("{{% {} %}}", ends.back()));
      }
    }
    --depth_;
    return body;
  }
  Expected<Body> parse_body(std::initializer_list<std::string_view> ends) {
    return parse_body(std::span<const std::string_view>(ends.begin(), ends.size()));
  }
  Expected<void> close() { return tokens_.require(TokenKind::block_end); }

  Expected<const StatementNode*> parse_tag(const std::string& name, int line) {
    if (name == "if") return parse_if();
    if (name == "for") return parse_for();
    if (name == "set") return parse_set();
    if (name == "macro") return parse_macro();
    if (name == "generation") {
      LUMEN_TRY(close());
      StatementNode* group = make(StatementKind::group);
      group->body = LUMEN_TRY(parse_body({"endgeneration"}));
      LUMEN_TRY(close());
      return group;
    }
    if (name == "break" || name == "continue") {
      if (loops_ == 0) return template_error(fmt::format("{} outside a loop", name), line);
      LUMEN_TRY(close());
      return make(name == "break" ? StatementKind::break_ : StatementKind::continue_);
    }
    return template_error(fmt::format("tag {} is not supported; these are: {}", name, fmt::join(kTags, ", ")), line);
  }

  Expected<const StatementNode*> parse_if() {
    StatementNode* const first = make(StatementKind::branch);
    StatementNode* node = first;
    while (true) {
      node->value = LUMEN_TRY(expressions_.parse());
      LUMEN_TRY(close());
      node->body = LUMEN_TRY(parse_body({"elif", "else", "endif"}));
      if (end_ != "elif") break;
      StatementNode* next = make(StatementKind::branch);
      node->otherwise = {next};
      node = next;
    }
    if (end_ == "else") {
      LUMEN_TRY(close());
      node->otherwise = LUMEN_TRY(parse_body({"endif"}));
    }
    LUMEN_TRY(close());
    return first;
  }

  Expected<std::vector<std::string>> parse_targets() {
    std::vector<std::string> targets;
    const bool brackets = tokens_.take_op("(");
    do {
      targets.push_back(LUMEN_TRY(tokens_.require_any_name()));
    } while (tokens_.take_op(","));
    if (brackets) LUMEN_TRY(tokens_.require_op(")"));
    return targets;
  }

  Expected<const StatementNode*> parse_for() {
    StatementNode* node = make(StatementKind::loop);
    node->targets = LUMEN_TRY(parse_targets());
    LUMEN_TRY(tokens_.require_name("in"));
    node->value = LUMEN_TRY(expressions_.parse_without_choice());
    if (tokens_.take_name("if")) node->condition = LUMEN_TRY(expressions_.parse());
    if (tokens_.is_name("recursive")) return template_error("recursive loops are not supported", tokens_.line());
    LUMEN_TRY(close());
    ++loops_;
    node->body = LUMEN_TRY(parse_body({"else", "endfor"}));
    --loops_;
    if (end_ == "else") {
      LUMEN_TRY(close());
      node->otherwise = LUMEN_TRY(parse_body({"endfor"}));
    }
    LUMEN_TRY(close());
    return node;
  }

  Expected<const StatementNode*> parse_set() {
    StatementNode* node = make(StatementKind::set);
    node->targets = LUMEN_TRY(parse_targets());
    if (node->targets.size() == 1 && tokens_.take_op(".")) {
      node->kind = StatementKind::set_member;
      node->text = LUMEN_TRY(tokens_.require_any_name());
    }
    if (tokens_.take_op("=")) {
      node->value = LUMEN_TRY(expressions_.parse());
      LUMEN_TRY(close());
      return node;
    }
    // {% set x | filter %} ... {% endset %}: the filters are applied to the name, which holds the text by then.
    if (node->kind == StatementKind::set_member || node->targets.size() != 1) return tokens_.unexpected("=");
    if (tokens_.is_op("|")) {
      node->condition =
          LUMEN_TRY(expressions_.parse_filters(expressions_.make(ExprNode::Kind::name, {}, node->targets.front())));
    }
    LUMEN_TRY(close());
    node->body = LUMEN_TRY(parse_body({"endset"}));
    LUMEN_TRY(close());
    return node;
  }

  Expected<const StatementNode*> parse_macro() {
    StatementNode* node = make(StatementKind::macro);
    node->macro.name = LUMEN_TRY(tokens_.require_any_name());
    node->macro.parameters = LUMEN_TRY(expressions_.parse_parameters());
    LUMEN_TRY(close());
    const int loops = std::exchange(loops_, 0);
    node->macro.body = LUMEN_TRY(parse_body({"endmacro"}));
    loops_ = loops;
    if (tokens_.is(TokenKind::name)) tokens_.take();  // {% endmacro name %}
    LUMEN_TRY(close());
    return node;
  }

  TemplateTokens tokens_;
  Template& into_;
  TemplateExpressions expressions_;
  std::string end_;
  int depth_ = 0;
  int loops_ = 0;
};

}  // namespace

Expected<std::shared_ptr<const Template>> parse_template(std::string_view text) {
  auto result = std::make_shared<Template>();
  LUMEN_TRY(Parser(LUMEN_TRY(lex_template(text)), *result).run());
  return std::shared_ptr<const Template>(std::move(result));
}

}  // namespace lumen::text
