#include <fmt/format.h>

#include <array>

#include "lumen/egraph/lang/parser.h"

namespace lumen::egraph {

namespace {

struct ActionUsage {
  std::string_view name;
  size_t args;
  std::string_view usage;
};
constexpr std::array<ActionUsage, 7> kActions = {{
    {"let", 2, "(let <name> <expr>)"},
    {"set", 2, "(set (<table> <expr>*) <expr>)"},
    {"union", 2, "(union <expr> <expr>)"},
    {"delete", 1, "(delete (<table> <expr>*))"},
    {"subsume", 1, "(subsume (<table> <expr>*))"},
    {"panic", 1, "(panic <string>)"},
    {"set-cost", 2, "(set-cost (<constructor> <expr>*) <expr>)"},
}};

}  // namespace

Expected<void> Parser::action(const Sexp& sexp, std::vector<ActionNode>& out) {
  if (!sexp.is_list() || sexp.size == 1 || !(&sexp)[1].is_atom()) {
    return expected(sexp, "an action such as (union a b) or (f x)");
  }
  const std::string_view head = (&sexp)[1].text;
  const auto* known = std::find_if(kActions.begin(), kActions.end(), [&](const auto& a) { return a.name == head; });
  if (known == kActions.end()) {
    out.push_back({span(sexp), ExprAction{LUMEN_TRY(expr(sexp))}});
    return {};
  }
  const Form action = LUMEN_TRY(form(sexp, "an action"));
  if (action.args.size() != known->args) {
    return error_at(span(sexp), fmt::format("usage: {}, given {} arguments", known->usage, action.args.size()));
  }
  if (head == "let") return let_action(action, out);
  if (head == "set") return set_action(action, out);
  if (head == "set-cost") return set_cost_action(action, out);
  if (head == "union") {
    const Expr* left = LUMEN_TRY(expr(*action.args[0]));
    out.push_back({span(sexp), UnionAction{left, LUMEN_TRY(expr(*action.args[1]))}});
  } else if (head == "panic") {
    out.push_back({span(sexp), PanicAction{LUMEN_TRY(string(*action.args[0], "the message of the panic"))}});
  } else {
    out.push_back({span(sexp), ChangeAction{head == "subsume", LUMEN_TRY(table_call(*action.args[0]))}});
  }
  return {};
}

Expected<void> Parser::let_action(const Form& form, std::vector<ActionNode>& out) {
  const std::string_view bound = LUMEN_TRY(variable_name(*form.args[0], "the name that is bound"));
  out.push_back({span(*form.whole), LetAction{bound, LUMEN_TRY(expr(*form.args[1]))}});
  return {};
}

Expected<void> Parser::set_action(const Form& form, std::vector<ActionNode>& out) {
  const Expr* call = LUMEN_TRY(table_call(*form.args[0]));
  out.push_back({span(*form.whole), SetAction{call, LUMEN_TRY(expr(*form.args[1]))}});
  return {};
}

// The node itself, so that no cost stands for a node that does not exist, and its row in the table of costs.
Expected<void> Parser::set_cost_action(const Form& form, std::vector<ActionNode>& out) {
  const Expr* call = LUMEN_TRY(table_call(*form.args[0]));
  Expr* cost_row = arena_.make<Expr>(*call);
  cost_row->name = arena_.copy(std::string_view(fmt::format("cost_table_{}", call->name)));
  const Expr* cost = LUMEN_TRY(expr(*form.args[1]));
  out.push_back({span(*form.whole), ExprAction{call}});
  out.push_back({span(*form.whole), SetAction{cost_row, cost}});
  return {};
}

Expected<std::vector<ActionNode>> Parser::actions(const Sexp& sexp) {
  std::vector<ActionNode> result;
  for (const Sexp& item : LUMEN_TRY(list(sexp, "the actions"))) LUMEN_TRY(action(item, result));
  return result;
}

Expected<void> Parser::parse_rule(const Form& form, Commands& out) {
  static constexpr std::array<std::string_view, 6> kKnown = {
      ":ruleset", ":name", ":naive", ":unsafe-seminaive", ":no-decomp", ":internal-include-subsumed"};
  RuleCommand rule;
  rule.body = LUMEN_TRY(fact_list(*form.args[0], "the facts of the rule"));
  rule.head = LUMEN_TRY(actions(*form.args[1]));
  for (const Option& option : LUMEN_TRY(options(Args(form.args).subspan(2)))) {
    const std::string_view key = option.key->text;
    if (key == ":ruleset") {
      rule.ruleset = LUMEN_TRY(name(*LUMEN_TRY(single_value(option)), "the name of a ruleset"));
      continue;
    }
    if (key == ":name") {
      rule.name = LUMEN_TRY(string(*LUMEN_TRY(single_value(option)), "the name of the rule"));
      continue;
    }
    bool* flag = key == ":naive"                       ? &rule.naive
                 : key == ":unsafe-seminaive"          ? &rule.unsafe_seminaive
                 : key == ":no-decomp"                 ? &rule.no_decomp
                 : key == ":internal-include-subsumed" ? &rule.include_subsumed
                                                       : nullptr;
    if (flag == nullptr) return unknown_option(*option.key, form.head, kKnown);
    LUMEN_TRY(no_value(option));
    *flag = true;
  }
  if (rule.naive && rule.unsafe_seminaive) {
    return error_at(span(*form.whole), "a rule cannot be both `:naive` and `:unsafe-seminaive`");
  }
  add(form, std::move(rule), out);
  return {};
}

// rewrite and birewrite
Expected<void> Parser::parse_rewrite(const Form& form, Commands& out) {
  static constexpr std::array<std::string_view, 4> kKnown = {":ruleset", ":when", ":name", ":subsume"};
  RewriteCommand rewrite{};
  rewrite.both_ways = form.head == "birewrite";
  rewrite.left = LUMEN_TRY(expr(*form.args[0]));
  rewrite.right = LUMEN_TRY(expr(*form.args[1]));
  for (const Option& option : LUMEN_TRY(options(Args(form.args).subspan(2)))) {
    const std::string_view key = option.key->text;
    if (key == ":ruleset") {
      rewrite.ruleset = LUMEN_TRY(name(*LUMEN_TRY(single_value(option)), "the name of a ruleset"));
    } else if (key == ":when") {
      rewrite.conditions = LUMEN_TRY(fact_list(*LUMEN_TRY(single_value(option)), "the conditions"));
    } else if (key == ":name") {
      rewrite.name = LUMEN_TRY(string(*LUMEN_TRY(single_value(option)), "the name of the rule"));
    } else if (key == ":subsume" && !rewrite.both_ways) {
      LUMEN_TRY(no_value(option));
      rewrite.subsume = true;
    } else {
      return unknown_option(*option.key, form.head, std::span(kKnown).first(rewrite.both_ways ? 3 : 4));
    }
  }
  add(form, std::move(rewrite), out);
  return {};
}

}  // namespace lumen::egraph
