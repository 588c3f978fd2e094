#include <fmt/format.h>

#include <utility>

#include "lumen/egraph/lang/program.h"
#include "lumen/egraph/report/why_not.h"

namespace lumen::egraph {

// The term as it is written; terms of it that are missing are made.
Expected<WrittenTerm> Program::written_term(const Expr& expr) {
  const TypedValue value = LUMEN_TRY(evaluate(expr));
  WrittenTerm term{value.sort, kNone, {}, value.value};
  const std::optional<TableId> table = state_.scope.table(expr.name);
  if (expr.kind != Expr::Kind::call || !table || !state_.graph.table(*table).constructor) return term;
  term.table = *table;
  for (const Expr* arg : expr.args) term.args.push_back(LUMEN_TRY(written_term(*arg)));
  return term;
}

Expected<void> Program::run(const ExplainCommand& c, const Span& span) {
  const WrittenTerm from = LUMEN_TRY(written_term(*c.left));
  const WrittenTerm to = LUMEN_TRY(written_term(*c.right));
  if (from.sort != to.sort || state_.graph.sorts()[from.sort].kind != SortKind::eq) {
    return error_at(span, "explain needs two terms of one declared sort");
  }
  const Expected<Explanation> explanation = explain(state_.graph, from, to, state_.given);
  if (!explanation.ok()) return error_at(span, explanation.diag().message);
  print(explanation->text());
  return {};
}

Expected<void> Program::run(const WhyNotCommand& c, const Span& span) {
  const std::optional<RuleId> rule = find_rule(c.rule);
  if (!rule) return error_at(span, fmt::format("no rule is called `{}`", c.rule));
  const TypedValue term = LUMEN_TRY(evaluate(*c.term));
  const Expected<WhyNot> found = why_not(state_.graph, *rule, term.sort, term.value);
  if (!found.ok()) return error_at(span, found.diag().message);
  print(found->text());
  return {};
}

}  // namespace lumen::egraph
