#include <fmt/format.h>

#include <utility>

#include "lumen/egraph/core/primitive.h"
#include "lumen/egraph/lang/program.h"

namespace lumen::egraph {

namespace {

// (UnstableFn (i64 M) i64): the inputs stand in a bracket, which parses as a call of the first by the others.
void add_inputs(const Expr& expr, std::vector<const Expr*>& names) {
  if (expr.kind == Expr::Kind::literal) return;  // () has no inputs
  names.push_back(&expr);
  for (const Expr* arg : expr.args) add_inputs(*arg, names);
}

}  // namespace

Expected<void> Program::check_free(std::string_view name, const Span& span) const {
  const std::string_view what = state_.scope.sort(name) ? "a sort" : state_.scope.declared_as(name);
  if (what.empty()) return {};
  return error_at(span, fmt::format("`{}` is already declared as {}", name, what));
}

Expected<SortId> Program::sort_named(std::string_view name, const Span& span) const {
  if (const std::optional<SortId> sort = state_.scope.sort(name)) return *sort;
  return error_at(span, fmt::format("unknown sort `{}`{}", name, state_.scope.suggest_sort(name)));
}

Expected<std::vector<SortId>> Program::sorts_named(const Params& params) const {
  std::vector<SortId> sorts;
  for (size_t i = 0; i < params.sorts.size(); ++i) {
    sorts.push_back(LUMEN_TRY(sort_named(params.sorts[i], params.spans[i])));
  }
  return sorts;
}

Expected<void> Program::declare_sort(std::string_view name, const std::optional<Presort>& presort, const Span& span) {
  LUMEN_TRY(check_free(name, span));
  if (!presort) {
    state_.graph.add_sort(std::string(name));
  } else {
    std::vector<const Expr*> names;
    for (const Expr* arg : presort->args) add_inputs(*arg, names);
    std::vector<SortId> sorts;
    for (const Expr* expr : names) sorts.push_back(LUMEN_TRY(sort_named(expr->name, expr->span)));
    Expected<Sort> sort = make_container_sort(std::string(name), presort->name, sorts, state_.graph.sorts());
    if (!sort.ok()) return error_at(span, sort.diag().message);
    state_.graph.add_sort(std::move(*sort));
  }
  state_.scope.update(state_.graph);
  return {};
}

Expected<void> Program::declare_table(TableDecl decl, const Params& params, std::string_view result, const Span& span) {
  LUMEN_TRY(check_free(decl.name, span));
  if (!state_.scope.primitives(decl.name).empty() || is_reserved_primitive(decl.name)) {
    return error_at(span, fmt::format("`{}` is a primitive", decl.name));
  }
  decl.params = LUMEN_TRY(sorts_named(params));
  decl.result = decl.relation ? kUnit : LUMEN_TRY(sort_named(result, span));
  decl.field_names.assign(params.names.begin(), params.names.end());
  if (decl.constructor && state_.graph.sorts()[decl.result].kind != SortKind::eq) {
    return error_at(
        span, fmt::format("the constructor `{}` must make values of a declared sort, not of {}", decl.name, result));
  }
  state_.graph.add_table(std::move(decl));
  state_.scope.update(state_.graph);
  return {};
}

Expected<void> Program::declare_variants(const DatatypeBody& body) {
  for (const Variant& variant : body.variants) {
    TableDecl decl;
    decl.name = variant.name;
    decl.constructor = true;
    decl.extractable = !variant.unextractable;
    decl.cost = variant.cost.value_or(1);
    LUMEN_TRY(declare_table(std::move(decl), variant.params, body.name, variant.span));
  }
  return {};
}

Expected<void> Program::run(const SortCommand& c, const Span& span) { return declare_sort(c.name, c.presort, span); }

Expected<void> Program::run(const DatatypeCommand& c, const Span& span) {
  LUMEN_TRY(declare_sort(c.body.name, c.body.presort, span));
  return declare_variants(c.body);
}

Expected<void> Program::run(const DatatypesCommand& c, const Span&) {
  for (const DatatypeBody& body : c.bodies) {
    if (!body.presort) LUMEN_TRY(declare_sort(body.name, body.presort, body.span));
  }
  for (const DatatypeBody& body : c.bodies) {
    if (body.presort) LUMEN_TRY(declare_sort(body.name, body.presort, body.span));
  }
  for (const DatatypeBody& body : c.bodies) LUMEN_TRY(declare_variants(body));
  return {};
}

Expected<void> Program::run(const FunctionCommand& c, const Span& span) {
  TableDecl decl;
  decl.name = c.name;
  decl.extractable = !c.unextractable;
  decl.cost = c.cost.value_or(1);
  decl.merge = Merge::error;
  if (c.merge != nullptr) {
    const SortId result = LUMEN_TRY(sort_named(c.result, span));
    LoweredMerge merge = LUMEN_TRY(lower_merge(state_.graph, state_.scope, *c.merge, result));
    decl.merge = merge.kind;
    decl.merge_lambda = std::move(merge.lambda);
  }
  LUMEN_TRY(declare_table(std::move(decl), c.params, c.result, span));
  if (c.hidden) state_.hidden.push_back(*state_.scope.table(c.name));
  return {};
}

Expected<void> Program::run(const ConstructorCommand& c, const Span& span) {
  TableDecl decl;
  decl.name = c.name;
  decl.constructor = true;
  decl.extractable = !c.unextractable;
  decl.cost = c.cost.value_or(1);
  LUMEN_TRY(declare_table(std::move(decl), c.params, c.result, span));
  if (c.hidden) state_.hidden.push_back(*state_.scope.table(c.name));
  return {};
}

Expected<void> Program::run(const RelationCommand& c, const Span& span) {
  TableDecl decl;
  decl.name = c.name;
  decl.relation = true;
  decl.merge = Merge::old;
  return declare_table(std::move(decl), c.params, {}, span);
}

Expected<void> Program::run(const RulesetCommand& c, const Span& span) {
  LUMEN_TRY(check_free(c.name, span));
  state_.scope.add_ruleset(c.name, static_cast<RulesetId>(state_.rulesets.size()));
  state_.rulesets.emplace_back().report.name = c.name;
  return {};
}

// The parts may be declared later: they are looked up when it runs.
Expected<void> Program::run(const CombinedRulesetCommand& c, const Span& span) {
  LUMEN_TRY(run(RulesetCommand{c.name}, span));
  state_.rulesets.back().combined = true;
  state_.rulesets.back().parts.assign(c.parts.begin(), c.parts.end());
  return {};
}

}  // namespace lumen::egraph
