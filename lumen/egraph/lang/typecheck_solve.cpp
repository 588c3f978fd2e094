// Choosing overloads: every call of a primitive keeps the candidates that agree with the sorts known so far, and one
// that is left alone decides the sorts around it.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "lumen/egraph/lang/typecheck.h"

namespace lumen::egraph {

namespace {

SortId param_of(const Primitive& primitive, size_t i) {
  return primitive.params[std::min(i, primitive.params.size() - 1)];
}

bool takes(const Primitive& primitive, size_t arguments) {
  return primitive.variadic ? arguments + 1 >= primitive.params.size() : arguments == primitive.params.size();
}

}  // namespace

bool Typer::fits(const Overloaded& call, PrimitiveId id) {
  const Primitive& primitive = graph_.primitives()[id];
  const std::vector<ExprId>& args = rule_.exprs[call.expr].args;
  if (!takes(primitive, args.size())) return false;
  SortId any = kNone;
  std::vector<std::pair<uint32_t, SortId>> assumed;  // of type variables that are unknown yet
  const auto agrees = [&](ExprId expr, SortId sort) {
    const uint32_t type = root(type_of_[expr]);
    const SortId own = types_[type].sort;
    if (sort == kAnySort && any == kNone) any = own;
    if (sort == kAnySort) return own == kNone || own == any;
    if (own != kNone) return own == sort;
    for (const auto& [other, other_sort] : assumed) {
      if (other == type) return other_sort == sort;
    }
    assumed.emplace_back(type, sort);
    return true;
  };
  if (!agrees(call.expr, primitive.result)) return false;
  for (size_t i = 0; i < args.size(); ++i) {
    if (!agrees(args[i], param_of(primitive, i))) return false;
  }
  return true;
}

Expected<void> Typer::commit(Overloaded& call, PrimitiveId id) {
  const std::vector<ExprId> args = rule_.exprs[call.expr].args;
  const Primitive& primitive = graph_.primitives()[id];
  if (!takes(primitive, args.size())) {
    const size_t least = primitive.params.size() - (primitive.variadic ? 1 : 0);
    return error_at(
        rule_.exprs[call.expr].span,
        fmt::format("`{}` takes {}{} argument{}, but {} given", call.name, primitive.variadic ? "at least " : "", least,
                    least == 1 ? "" : "s", args.size() == 1 ? "1 is" : fmt::format("{} are", args.size())));
  }
  ExprId any = kNone;
  const auto apply = [&](ExprId expr, SortId sort) -> Expected<void> {
    if (sort != kAnySort) return constrain(expr, sort);
    if (any != kNone) return unify(expr, any);
    any = expr;
    return {};
  };
  for (size_t i = 0; i < args.size(); ++i) LUMEN_TRY(apply(args[i], param_of(primitive, i)));
  LUMEN_TRY(apply(call.expr, primitive.result));
  rule_.exprs[call.expr].id = id;
  call.resolved = true;
  return {};
}

// Whether something was decided.
Expected<bool> Typer::narrow(Overloaded& call) {
  if (call.candidates.size() > 1) {
    std::vector<PrimitiveId> left;
    for (const PrimitiveId candidate : call.candidates) {
      if (fits(call, candidate)) left.push_back(candidate);
    }
    if (left.empty()) return no_overload(call);
    call.candidates = std::move(left);
  }
  if (call.candidates.size() > 1 && !all_known(call)) return false;
  LUMEN_TRY(commit(call, call.candidates[0]));
  return true;
}

bool Typer::all_known(const Overloaded& call) {
  const std::vector<ExprId>& args = rule_.exprs[call.expr].args;
  return known(call.expr) != kNone &&
         std::all_of(args.begin(), args.end(), [&](ExprId arg) { return known(arg) != kNone; });
}

std::string Typer::signature(PrimitiveId id) const {
  const Primitive& primitive = graph_.primitives()[id];
  const auto name = [&](SortId sort) { return sort == kAnySort ? "any" : name_of(sort); };
  std::string text = "(";
  for (size_t i = 0; i < primitive.params.size(); ++i) text += (i == 0 ? "" : " ") + name(primitive.params[i]);
  return text + (primitive.variadic ? " ...) -> " : ") -> ") + name(primitive.result);
}

Diag Typer::no_overload(const Overloaded& call) {
  const TypedExpr& expr = rule_.exprs[call.expr];
  const auto name = [&](ExprId e) { return known(e) == kNone ? "?" : name_of(known(e)); };
  std::string given = "(";
  for (size_t i = 0; i < expr.args.size(); ++i) given += (i == 0 ? "" : " ") + name(expr.args[i]);
  Diag diag = error_at(expr.span, fmt::format("no `{}` fits {}) -> {}", call.name, given, name(call.expr)));
  for (const PrimitiveId candidate : call.candidates) diag.notes.push_back("there is " + signature(candidate));
  return diag;
}

Expected<TypedRule> Typer::solve() {
  for (bool changed = true; changed;) {
    changed = false;
    for (Overloaded& call : overloaded_) {
      if (!call.resolved) changed = LUMEN_TRY(narrow(call)) || changed;
    }
  }
  for (const Overloaded& call : overloaded_) {
    if (call.resolved) continue;
    Diag diag = error_at(rule_.exprs[call.expr].span, fmt::format("cannot infer which `{}` is meant", call.name));
    for (const PrimitiveId candidate : call.candidates) diag.notes.push_back("it may be " + signature(candidate));
    return diag;
  }
  for (size_t i = 0; i < rule_.exprs.size(); ++i) {
    TypedExpr& expr = rule_.exprs[i];
    expr.sort = known(static_cast<ExprId>(i));
    if (expr.sort == kNone) {
      const bool named = expr.kind == TypedExpr::Kind::variable;
      return error_at(expr.span, fmt::format("cannot infer the sort of {}",
                                             named ? fmt::format("`{}`", rule_.variables[expr.id].name) : "this"));
    }
  }
  for (size_t v = 0; v < rule_.variables.size(); ++v) {
    rule_.variables[v].sort = types_[root(type_of_variable_[v])].sort;
  }
  for (TypedAction& action : rule_.actions) {
    if (action.kind != TypedAction::Kind::unite) continue;
    action.target = rule_.exprs[action.exprs[0]].sort;
    if (is_fact_sort(action.target) || graph_.sorts()[action.target].kind != SortKind::eq) {
      return error_at(action.span, fmt::format("cannot union values of sort {}", name_of(action.target)));
    }
  }
  for (const ExprId expr : fresh_) declare_fresh(expr);
  return std::move(rule_);
}

}  // namespace lumen::egraph
