#include <fmt/format.h>

#include <utility>

#include "lumen/egraph/lang/program.h"

namespace lumen::egraph {

Expected<RulesetId> Program::ruleset_for_rule(std::string_view name, const Span& span) {
  const std::optional<RulesetId> id = state_.scope.ruleset(name);
  if (!id) return error_at(span, fmt::format("no ruleset `{}`{}", name, state_.scope.suggest_ruleset(name)));
  if (state_.rulesets[*id].combined) {
    return error_at(span, fmt::format("cannot add a rule to `{}`: it combines other rulesets", name));
  }
  return *id;
}

Expected<void> Program::add_rule(RulesetId id, Rule rule, const Span& span) {
  Ruleset& ruleset = state_.rulesets[id];
  if (ruleset.by_name.contains(rule.name)) {
    return error_at(span, fmt::format("the rule `{}` is in its ruleset already", rule.name));
  }
  std::string name = rule.name;
  const RuleId added = state_.graph.add_rule(std::move(rule));
  ruleset.rules.push_back(added);
  ruleset.by_name.emplace(std::move(name), added);
  return {};
}

// Not a matter of types: `fail` forgives it.
Expected<void> Program::check_subsumed_tables(const TypedRule& rule) const {
  for (const TypedAction& action : rule.actions) {
    if (action.kind != TypedAction::Kind::subsume) continue;
    const TableDecl& decl = state_.graph.table(action.target);
    if (decl.constructor || decl.relation) continue;
    return error_at(action.span,
                    fmt::format("cannot subsume the function `{}`: only constructors and relations", decl.name));
  }
  return {};
}

Expected<void> Program::run(const RuleCommand& c, const Span& span) {
  Typer typer(state_.graph, state_.scope);
  for (const Fact& fact : c.body) LUMEN_TRY(typer.add_fact(fact));
  const bool may_read = c.naive || c.unsafe_seminaive;
  for (const ActionNode& action : c.head) {
    LUMEN_TRY(typer.add_action(action, may_read ? Typer::Place::free : Typer::Place::rule));
  }
  const TypedRule typed = LUMEN_TRY(typer.solve());
  std::string name = c.name.empty() ? text_of_current() : std::string(c.name);
  Rule rule = LUMEN_TRY(lower_rule(state_.graph, state_.scope, typed, span, std::move(name)));
  rule.naive = c.naive;
  rule.query.include_subsumed = c.include_subsumed;
  begin();
  LUMEN_TRY(check_subsumed_tables(typed));
  return add_rule(LUMEN_TRY(ruleset_for_rule(c.ruleset, span)), std::move(rule), span);
}

Expected<void> Program::run(const RewriteCommand& c, const Span& span) {
  const std::string name = c.name.empty() ? text_of_current() : std::string(c.name);
  if (!c.both_ways) return add_rewrite(c, *c.left, *c.right, name, span);
  LUMEN_TRY(add_rewrite(c, *c.left, *c.right, name + "=>", span));
  return add_rewrite(c, *c.right, *c.left, name + "<=", span);
}

// (rule ((= root left) conditions...) ((union root right) (subsume left)))
Expected<void> Program::add_rewrite(const RewriteCommand& c, const Expr& left, const Expr& right, std::string name,
                                    const Span& span) {
  Expr root;
  root.kind = Expr::Kind::variable;
  root.span = left.span;
  root.name = "the left side";
  Typer typer(state_.graph, state_.scope);
  LUMEN_TRY(typer.add_fact(Fact{left.span, true, &root, &left}));
  for (const Fact& condition : c.conditions) LUMEN_TRY(typer.add_fact(condition));
  LUMEN_TRY(typer.add_action({span, UnionAction{&root, &right}}, Typer::Place::rule));
  if (c.subsume) LUMEN_TRY(typer.add_action({span, ChangeAction{true, &left}}, Typer::Place::rule));
  const TypedRule typed = LUMEN_TRY(typer.solve());
  Rule rule = LUMEN_TRY(lower_rule(state_.graph, state_.scope, typed, span, std::move(name)));
  begin();
  LUMEN_TRY(check_subsumed_tables(typed));
  return add_rule(LUMEN_TRY(ruleset_for_rule(c.ruleset, span)), std::move(rule), span);
}

}  // namespace lumen::egraph
