#include <utility>

#include "lumen/egraph/lang/lower.h"

namespace lumen::egraph {

HeadLowering::HeadLowering(const EGraph& graph, const TypedRule& rule, std::vector<Slot> variables, uint32_t next)
    : graph_(graph), rule_(rule), variables_(std::move(variables)), next_(next) {
  variables_.resize(rule.variables.size());
}

HeadLowering::Key HeadLowering::key_of(TypedExpr::Kind kind, uint32_t id, const std::vector<Slot>& args) {
  Key key{static_cast<uint32_t>(kind), id};
  for (const Slot& slot : args) {
    key.push_back(static_cast<uint32_t>(slot.kind));
    key.push_back(slot.index);
  }
  return key;
}

void HeadLowering::know(const Atom& atom) {
  const TableDecl& decl = graph_.table(atom.table);
  if (!decl.constructor && !decl.relation) return;
  const std::vector<Slot> args(atom.slots.begin(), atom.slots.end() - 1);
  made_.emplace(key_of(TypedExpr::Kind::table, atom.table, args), atom.slots.back());
}

std::vector<Slot> HeadLowering::values(const std::vector<ExprId>& exprs) {
  std::vector<Slot> slots;
  for (const ExprId expr : exprs) slots.push_back(value(expr));
  return slots;
}

Slot HeadLowering::value(ExprId id) {
  const TypedExpr& expr = rule_.exprs[id];
  switch (expr.kind) {
    case TypedExpr::Kind::variable:
      return variables_[expr.id];
    case TypedExpr::Kind::value:
      return Slot::value(expr.id);
    case TypedExpr::Kind::global:
      return Slot::global(expr.id);
    case TypedExpr::Kind::table:
    case TypedExpr::Kind::primitive:
      break;
  }
  std::vector<Slot> args = values(expr.args);
  Action::Kind kind = Action::Kind::call;
  bool reads = false;  // what it gives may have changed since an equal one
  if (expr.kind == TypedExpr::Kind::table) {
    const TableDecl& decl = graph_.table(expr.id);
    reads = !decl.constructor && !decl.relation;
    kind = reads ? Action::Kind::read : Action::Kind::make;
  } else {
    reads = graph_.primitives()[expr.id].reads_tables;
  }
  Key key = key_of(expr.kind, expr.id, args);
  if (const auto at = made_.find(key); at != made_.end() && !reads) return at->second;
  const Slot result = Slot::variable(next_++);
  made_.insert_or_assign(std::move(key), result);
  actions_.push_back({kind, expr.id, std::move(args), result, {}});
  return result;
}

void HeadLowering::add(const TypedAction& action) {
  std::vector<Slot> slots = values(action.exprs);
  const auto emit = [&](Action::Kind kind) {
    actions_.push_back({kind, action.target, std::move(slots), {}, std::string(action.message)});
  };
  switch (action.kind) {
    case TypedAction::Kind::let:
      variables_[action.target] = slots[0];
      return;
    case TypedAction::Kind::set:
      return emit(Action::Kind::set);
    case TypedAction::Kind::unite:
      return emit(Action::Kind::unite);
    case TypedAction::Kind::erase:
      return emit(Action::Kind::erase);
    case TypedAction::Kind::subsume:
      return emit(Action::Kind::subsume);
    case TypedAction::Kind::fail:
      return emit(Action::Kind::fail);
    case TypedAction::Kind::eval:
      return;
  }
}

Expected<Rule> lower_rule(const EGraph& graph, const Scope& scope, const TypedRule& typed, const Span& where,
                          std::string name) {
  LoweredBody body = LUMEN_TRY(lower_body(scope, typed, where));
  HeadLowering head(graph, typed, std::move(body.variables), body.query.variables);
  for (const Atom& atom : body.query.atoms) head.know(atom);
  for (const TypedAction& action : typed.actions) head.add(action);
  Rule rule;
  rule.name = std::move(name);
  rule.query = std::move(body.query);
  rule.variables = head.variables();
  rule.actions = std::move(head.actions());
  return rule;
}

Expected<LoweredMerge> lower_merge(EGraph& graph, Scope& scope, const Expr& body, SortId result) {
  if (body.kind == Expr::Kind::variable && body.name == "old") return LoweredMerge{Merge::old, {}};
  if (body.kind == Expr::Kind::variable && body.name == "new") return LoweredMerge{Merge::fresh, {}};
  Typer typer(graph, scope);
  typer.add_variable("old", result);
  typer.add_variable("new", result);
  const ExprId expr = LUMEN_TRY(typer.add_expr(body, Typer::Place::free, result));
  const TypedRule typed = LUMEN_TRY(typer.solve());
  HeadLowering head(graph, typed, {Slot::variable(0), Slot::variable(1)}, 2);
  LoweredMerge merge;
  merge.lambda.result = head.value(expr);
  merge.lambda.variables = head.variables();
  merge.lambda.actions = std::move(head.actions());
  return merge;
}

}  // namespace lumen::egraph
