#include <fmt/format.h>

#include <utility>

#include "lumen/egraph/core/state.h"
#include "lumen/egraph/lang/ground.h"
#include "lumen/egraph/lang/program.h"

namespace lumen::egraph {

namespace {

// What the engine reports has no place: it gets that of the command.
template <class T>
Expected<T> placed(Expected<T> result, const Span& span) {
  if (result.ok() || result.diag().where.line > 0) return result;
  return error_at(span, result.diag().message);
}

}  // namespace

Expected<TypedValue> Program::evaluate(const Expr& expr) {
  GroundCode code(state_.graph, state_.scope);
  if (const std::optional<SortId> sort = code.add(expr)) {
    begin();
    return TypedValue{stored_sort(*sort), LUMEN_TRY(code.run())[0]};
  }
  Typer typer(state_.graph, state_.scope);
  const ExprId id = LUMEN_TRY(typer.add_expr(expr, Typer::Place::free));
  const TypedRule typed = LUMEN_TRY(typer.solve());
  HeadLowering head(state_.graph, typed, {}, 0);
  const Slot slot = head.value(id);
  begin();
  const std::vector<Value> values =
      LUMEN_TRY(placed(state_.graph.run_actions(head.variables(), head.actions()), expr.span));
  const Value value = slot.is_variable()                ? values[slot.index]
                      : slot.kind == Slot::Kind::global ? state_.graph.global(slot.index)
                                                        : slot.index;
  return TypedValue{stored_sort(typed.exprs[id].sort), value};
}

Expected<void> Program::define_global(std::string_view name, SortId sort, Value value) {
  state_.scope.add_global(name, {state_.graph.add_global(sort, value), sort});
  return {};
}

// Whether the action was one without variables and doubts, which needs no rule to be run.
Expected<bool> Program::run_ground(const ActionNode& action) {
  EGraph& graph = state_.graph;
  GroundCode code(graph, state_.scope);
  if (const auto* let = std::get_if<LetAction>(&action.node)) {
    const std::optional<SortId> sort = code.add(*let->value);
    if (!sort) return false;
    LUMEN_TRY(check_free(let->name, action.span));
    begin();
    state_.scope.reserve(let->name);
    LUMEN_TRY(define_global(let->name, stored_sort(*sort), LUMEN_TRY(code.run())[0]));
    return true;
  }
  if (const auto* expr = std::get_if<ExprAction>(&action.node)) {
    if (!code.add(*expr->expr)) return false;
    begin();
    LUMEN_TRY(code.run());
    return true;
  }
  if (const auto* both = std::get_if<UnionAction>(&action.node)) {
    const std::optional<SortId> sort = code.add(*both->left);
    if (!sort || code.add(*both->right) != sort || is_fact_sort(*sort) || graph.sorts()[*sort].kind != SortKind::eq) {
      return false;
    }
    begin();
    const std::vector<Value> values = LUMEN_TRY(code.run());
    if (graph.state().trace != nullptr) {
      const uint32_t firings = static_cast<uint32_t>(graph.state().trace->firings.size());
      const WrittenTerm left = LUMEN_TRY(written_term(*both->left));
      const WrittenTerm right = LUMEN_TRY(written_term(*both->right));
      state_.given.push_back({left, right, firings});
    }
    graph.unite(*sort, values[0], values[1]);
    LUMEN_TRY(placed(graph.rebuild(), action.span));  // the entries of a :no-merge function may have met
    return true;
  }
  if (const auto* set = std::get_if<SetAction>(&action.node)) {
    const std::optional<TableId> table = state_.scope.table(set->call->name);
    if (!table || set->call->kind != Expr::Kind::call || !set->call->fields.empty()) return false;
    const TableDecl& decl = graph.table(*table);
    if (decl.constructor || decl.relation || set->call->args.size() != decl.params.size()) return false;
    for (size_t i = 0; i < decl.params.size(); ++i) {
      if (code.add(*set->call->args[i]) != decl.params[i]) return false;
    }
    if (code.add(*set->value) != decl.result) return false;
    begin();
    const std::vector<Value> values = LUMEN_TRY(code.run());
    const std::span<const Value> args = std::span(values).first(values.size() - 1);
    LUMEN_TRY(placed(graph.set(*table, args, values.back()), action.span));
    return true;
  }
  return false;
}

Expected<void> Program::run(const ActionCommand& c, const Span& span) {
  if (const auto* expr = std::get_if<ExprAction>(&c.action.node)) {
    if (expr->expr->name == "multi-extract") return multi_extract(*expr->expr);
    LUMEN_TRY(evaluate(*expr->expr));
    return {};
  }
  if (const auto* let = std::get_if<LetAction>(&c.action.node)) {
    LUMEN_TRY(check_free(let->name, span));
    Expected<TypedValue> value = evaluate(*let->value);
    if (begun_) state_.scope.reserve(let->name);
    const TypedValue typed = LUMEN_TRY(std::move(value));
    return define_global(let->name, typed.sort, typed.value);
  }
  Typer typer(state_.graph, state_.scope);
  LUMEN_TRY(typer.add_action(c.action, Typer::Place::free));
  const TypedRule typed = LUMEN_TRY(typer.solve());
  HeadLowering head(state_.graph, typed, {}, 0);
  for (const TypedAction& action : typed.actions) head.add(action);
  begin();
  LUMEN_TRY(check_subsumed_tables(typed));
  LUMEN_TRY(placed(state_.graph.run_actions(head.variables(), head.actions()), span));
  return {};
}

}  // namespace lumen::egraph
