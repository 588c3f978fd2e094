#include "lumen/egraph/lang/typecheck.h"

#include <fmt/format.h>

#include <utility>

#include "lumen/egraph/lang/function_value.h"

namespace lumen::egraph {

SortId sort_of(const Literal& literal) {
  switch (literal.kind) {
    case Literal::Kind::integer:
      return kI64;
    case Literal::Kind::real:
      return kF64;
    case Literal::Kind::string:
      return kString;
    case Literal::Kind::boolean:
      return kBool;
    case Literal::Kind::unit:
      return kUnit;
  }
  return kUnit;
}

Value value_of(const Literal& literal, const EGraph& graph) {
  switch (literal.kind) {
    case Literal::Kind::integer:
      return from_i64(graph.sorts()[kI64], literal.integer);
    case Literal::Kind::real:
      return graph.sorts()[kF64].values<double>().intern(literal.real);
    case Literal::Kind::string:
      return graph.sorts()[kString].values<std::string>().intern(std::string(literal.string));
    case Literal::Kind::boolean:
      return literal.boolean ? 1 : 0;
    case Literal::Kind::unit:
      return 0;
  }
  return 0;
}

std::string Typer::name_of(SortId sort) const {
  if (is_fact_sort(sort)) return fmt::format("a fact of `{}`", graph_.table(sort - kFactSorts).name);
  return graph_.sorts()[sort].name;
}

uint32_t Typer::new_type(SortId sort) {
  types_.push_back({static_cast<uint32_t>(types_.size()), sort});
  return types_.back().parent;
}

uint32_t Typer::root(uint32_t type) {
  while (types_[type].parent != type) type = types_[type].parent = types_[types_[type].parent].parent;
  return type;
}

ExprId Typer::push(TypedExpr expr, uint32_t type) {
  rule_.exprs.push_back(std::move(expr));
  type_of_.push_back(type);
  return static_cast<ExprId>(rule_.exprs.size() - 1);
}

Expected<void> Typer::constrain(ExprId expr, SortId sort) {
  SortId& own = types_[root(type_of_[expr])].sort;
  if (own == kNone) own = sort;
  if (own == sort) return {};
  return error_at(rule_.exprs[expr].span, fmt::format("expected {}, but this is {}", name_of(sort), name_of(own)));
}

Expected<void> Typer::unify(ExprId a, ExprId b) {
  const uint32_t x = root(type_of_[a]);
  const uint32_t y = root(type_of_[b]);
  if (types_[y].sort != kNone) LUMEN_TRY(constrain(a, types_[y].sort));
  if (types_[y].sort == kNone) types_[y].sort = types_[x].sort;
  types_[x].parent = y;
  return {};
}

void Typer::add_variable(std::string_view name, SortId sort) {
  variables_.emplace(name, static_cast<uint32_t>(rule_.variables.size()));
  rule_.variables.push_back({name, sort, {}});
  type_of_variable_.push_back(new_type(sort));
  rule_.body_variables = static_cast<uint32_t>(rule_.variables.size());
}

Expected<ExprId> Typer::add_literal(const Expr& expr) {
  const SortId sort = sort_of(expr.literal);
  return push({TypedExpr::Kind::value, sort, value_of(expr.literal, graph_), {}, expr.span}, new_type(sort));
}

Expected<ExprId> Typer::add_name(const Expr& expr, Place place) {
  if (const auto at = variables_.find(expr.name); at != variables_.end()) {
    return push({TypedExpr::Kind::variable, kNone, at->second, {}, expr.span}, type_of_variable_[at->second]);
  }
  if (const Global* global = scope_.global(expr.name)) {
    return push({TypedExpr::Kind::global, global->sort, global->index, {}, expr.span}, new_type(global->sort));
  }
  if (place != Place::body) return error_at(expr.span, fmt::format("unbound symbol `{}`", expr.name));
  if (const std::string_view what = scope_.declared_as(expr.name); !what.empty()) {
    return error_at(expr.span, fmt::format("variable `{}` has the name of {}", expr.name, what));
  }
  if (scope_.global(fmt::format("${}", expr.name)) != nullptr) {
    return error_at(expr.span, fmt::format("variable `{0}` is too like the global `${0}`", expr.name));
  }
  add_variable(expr.name, kNone);
  rule_.variables.back().span = expr.span;
  return add_name(expr, place);
}

Expected<ExprId> Typer::add_expr(const Expr& expr, Place place, SortId sort) {
  const ExprId id = expr.kind == Expr::Kind::literal    ? LUMEN_TRY(add_literal(expr))
                    : expr.kind == Expr::Kind::variable ? LUMEN_TRY(add_name(expr, place))
                    : expr.name == "unstable-fn"        ? LUMEN_TRY(add_function_value(expr, place))
                    : expr.name == "unstable-fresh!"    ? LUMEN_TRY(add_fresh(expr))
                                                        : LUMEN_TRY(add_call(expr, place));
  if (sort != kNone) LUMEN_TRY(constrain(id, sort));
  return id;
}

Expected<ExprId> Typer::add_call(const Expr& expr, Place place) {
  const std::optional<TableId> table = scope_.table(expr.name);
  const std::span<const PrimitiveId> primitives = scope_.primitives(expr.name);
  if (!table && primitives.empty()) {
    return error_at(expr.span, fmt::format("unbound function `{}`{}", expr.name, scope_.suggest_callable(expr.name)));
  }
  TypedExpr call{TypedExpr::Kind::primitive, kNone, kNone, {}, expr.span};
  Overloaded pending{0, expr.name, {primitives.begin(), primitives.end()}};
  for (const Expr* arg : expr.args) call.args.push_back(LUMEN_TRY(add_expr(*arg, place)));
  if (!table) {
    pending.expr = push(std::move(call), new_type(kNone));
    overloaded_.push_back(std::move(pending));
    return overloaded_.back().expr;
  }
  const TableDecl& decl = graph_.table(*table);
  if (place == Place::rule && !decl.constructor && !decl.relation) {
    return error_at(expr.span, fmt::format("a rule must not read the function `{}` in its actions; bind its value in "
                                           "the body: (= x ({} ...))",
                                           expr.name, expr.name));
  }
  LUMEN_TRY(constrain_args(call.args, *table, expr));
  call.kind = TypedExpr::Kind::table;
  call.id = *table;
  return push(std::move(call), new_type(result_sort(graph_, *table)));
}

Expected<ExprId> Typer::add_function_value(const Expr& expr, Place place) {
  if (expr.args.empty() || expr.args[0]->kind != Expr::Kind::literal ||
      expr.args[0]->literal.kind != Literal::Kind::string) {
    return error_at(expr.span, "unstable-fn needs the name of a function as a string");
  }
  TypedExpr call{TypedExpr::Kind::primitive, kNone, kNone, {}, expr.span};
  for (const Expr* arg : expr.args.subspan(1)) call.args.push_back(LUMEN_TRY(add_expr(*arg, place)));
  const std::string_view callee = expr.args[0]->literal.string;
  if (!scope_.table(callee) && scope_.primitives(callee).empty()) {
    return error_at(expr.args[0]->span,
                    fmt::format("unbound function `{}`{}", callee, scope_.suggest_callable(callee)));
  }
  Overloaded pending{0, expr.name, function_value_primitives(graph_, scope_, callee, call.args.size())};
  if (pending.candidates.empty()) {
    return error_at(expr.span, fmt::format("no function sort fits `{}` with {} argument{} given", callee,
                                           call.args.size(), call.args.size() == 1 ? "" : "s"));
  }
  pending.expr = push(std::move(call), new_type(kNone));
  overloaded_.push_back(std::move(pending));
  return overloaded_.back().expr;
}

// (unstable-fresh! S): a new value of the sort S for every match.
Expected<ExprId> Typer::add_fresh(const Expr& expr) {
  const std::optional<SortId> sort = expr.args.size() == 1 ? scope_.sort(expr.args[0]->name) : std::nullopt;
  if (!sort || graph_.sorts()[*sort].kind != SortKind::eq) {
    return error_at(expr.span, "unstable-fresh! needs the name of a declared sort");
  }
  fresh_.push_back(push({TypedExpr::Kind::table, *sort, kNone, {}, expr.span}, new_type(*sort)));
  return fresh_.back();
}

// A constructor of its own, applied to all that was matched.
void Typer::declare_fresh(ExprId expr) {
  TableDecl decl;
  decl.name = fmt::format("@fresh {}", graph_.table_count());
  decl.result = rule_.exprs[expr].sort;
  decl.constructor = true;
  decl.extractable = false;
  std::vector<ExprId> args;
  for (uint32_t v = 0; v < rule_.body_variables; ++v) {
    const TypedVariable& variable = rule_.variables[v];
    if (is_fact_sort(variable.sort)) continue;
    decl.params.push_back(variable.sort);
    args.push_back(push({TypedExpr::Kind::variable, variable.sort, v, {}, variable.span}, type_of_variable_[v]));
  }
  rule_.exprs[expr].args = std::move(args);
  rule_.exprs[expr].id = graph_.add_table(std::move(decl));
}

Expected<void> Typer::constrain_args(std::span<const ExprId> args, TableId table, const Expr& call) {
  const TableDecl& decl = graph_.table(table);
  if (args.size() != decl.params.size()) {
    return error_at(call.span, fmt::format("`{}` takes {} argument{}, but {} given", decl.name, decl.params.size(),
                                           decl.params.size() == 1 ? "" : "s",
                                           args.size() == 1 ? "1 is" : fmt::format("{} are", args.size())));
  }
  for (size_t i = 0; i < args.size(); ++i) LUMEN_TRY(constrain(args[i], decl.params[i]));
  return {};
}

Expected<void> Typer::add_fact(const Fact& fact) {
  TypedFact typed{fact.span, LUMEN_TRY(add_expr(*fact.left, Place::body)), kNone};
  if (fact.equal) {
    typed.right = LUMEN_TRY(add_expr(*fact.right, Place::body));
    LUMEN_TRY(unify(typed.right, typed.left));
  }
  rule_.facts.push_back(typed);
  return {};
}

Expected<TableId> Typer::table_of(const Expr& call, std::string_view verb) {
  if (call.kind == Expr::Kind::call) {
    if (const std::optional<TableId> table = scope_.table(call.name)) return *table;
  }
  const std::string guess = scope_.primitives(call.name).empty() ? scope_.suggest_callable(call.name) : "";
  return error_at(call.span, fmt::format("cannot {} `{}`: it is no function or relation{}", verb, call.name, guess));
}

Expected<void> Typer::add_let(const LetAction& let, const Span& span, Place place) {
  const ExprId value = LUMEN_TRY(add_expr(*let.value, place));
  if (variables_.contains(let.name)) return error_at(span, fmt::format("variable `{}` is defined already", let.name));
  if (const std::string_view what = scope_.declared_as(let.name); !what.empty()) {
    return error_at(span, fmt::format("variable `{}` has the name of {}", let.name, what));
  }
  if (scope_.global(fmt::format("${}", let.name)) != nullptr) {
    return error_at(span, fmt::format("variable `{0}` is too like the global `${0}`", let.name));
  }
  const uint32_t number = static_cast<uint32_t>(rule_.variables.size());
  variables_.emplace(let.name, number);
  rule_.variables.push_back({let.name, kNone, span});
  type_of_variable_.push_back(type_of_[value]);
  rule_.actions.push_back({TypedAction::Kind::let, span, number, {value}, {}});
  return {};
}

Expected<void> Typer::add_set(const SetAction& set, const Span& span, Place place) {
  const TableId table = LUMEN_TRY(table_of(*set.call, "set"));
  const TableDecl& decl = graph_.table(table);
  if (decl.constructor || decl.relation) {
    return error_at(span, fmt::format("cannot set the {} `{}`{}", decl.constructor ? "constructor" : "relation",
                                      decl.name, decl.constructor ? "; use union" : ""));
  }
  TypedAction action{TypedAction::Kind::set, span, table, {}, {}};
  for (const Expr* arg : set.call->args) action.exprs.push_back(LUMEN_TRY(add_expr(*arg, place)));
  LUMEN_TRY(constrain_args(action.exprs, table, *set.call));
  action.exprs.push_back(LUMEN_TRY(add_expr(*set.value, place, graph_.table(table).result)));
  rule_.actions.push_back(std::move(action));
  return {};
}

Expected<void> Typer::add_union(const UnionAction& node, const Span& span, Place place) {
  const ExprId left = LUMEN_TRY(add_expr(*node.left, place));
  const ExprId right = LUMEN_TRY(add_expr(*node.right, place));
  LUMEN_TRY(unify(right, left));
  rule_.actions.push_back({TypedAction::Kind::unite, span, kNone, {left, right}, {}});
  return {};
}

Expected<void> Typer::add_change(const ChangeAction& change, const Span& span, Place place) {
  const TableId table = LUMEN_TRY(table_of(*change.call, change.subsume ? "subsume" : "delete"));
  TypedAction action{change.subsume ? TypedAction::Kind::subsume : TypedAction::Kind::erase, span, table, {}, {}};
  for (const Expr* arg : change.call->args) action.exprs.push_back(LUMEN_TRY(add_expr(*arg, place)));
  LUMEN_TRY(constrain_args(action.exprs, table, *change.call));
  rule_.actions.push_back(std::move(action));
  return {};
}

Expected<void> Typer::add_action(const ActionNode& action, Place place) {
  const Span& span = action.span;
  if (const auto* let = std::get_if<LetAction>(&action.node)) return add_let(*let, span, place);
  if (const auto* set = std::get_if<SetAction>(&action.node)) return add_set(*set, span, place);
  if (const auto* both = std::get_if<UnionAction>(&action.node)) return add_union(*both, span, place);
  if (const auto* change = std::get_if<ChangeAction>(&action.node)) return add_change(*change, span, place);
  if (const auto* panic = std::get_if<PanicAction>(&action.node)) {
    rule_.actions.push_back({TypedAction::Kind::fail, span, 0, {}, panic->message});
    return {};
  }
  const ExprId value = LUMEN_TRY(add_expr(*std::get<ExprAction>(action.node).expr, place));
  rule_.actions.push_back({TypedAction::Kind::eval, span, 0, {value}, {}});
  return {};
}

}  // namespace lumen::egraph
