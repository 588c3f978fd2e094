#include "lumen/egraph/lang/ground.h"

#include <fmt/format.h>

#include <algorithm>

#include "lumen/egraph/core/state.h"
#include "lumen/egraph/lang/typecheck.h"
#include "lumen/egraph/report/explain.h"

namespace lumen::egraph {

namespace {

// The sort of the result when the primitive takes such arguments; sorts of kAnySort parameters must agree.
std::optional<SortId> result_of(const Primitive& primitive, std::span<const SortId> args) {
  const size_t params = primitive.params.size();
  if (primitive.variadic ? args.size() + 1 < params : args.size() != params) return std::nullopt;
  SortId any = kAnySort;
  for (size_t i = 0; i < args.size(); ++i) {
    SortId param = primitive.params[std::min(i, params - 1)];
    if (param == kAnySort && any == kAnySort) any = args[i];
    if (param == kAnySort) param = any;
    if (param != args[i]) return std::nullopt;
  }
  const SortId result = primitive.result == kAnySort ? any : primitive.result;
  return result == kAnySort ? std::nullopt : std::optional(result);
}

}  // namespace

GroundCode::GroundCode(EGraph& graph, const Scope& scope)
    : graph_(graph), scope_(scope), traced_(graph.state().trace != nullptr) {}

std::optional<SortId> GroundCode::add(const Expr& expr) {
  if (expr.kind == Expr::Kind::literal) {
    steps_.push_back({Step::Kind::value, value_of(expr.literal, graph_), 0, &expr});
    return sort_of(expr.literal);
  }
  if (expr.kind == Expr::Kind::variable) {
    const Global* global = scope_.global(expr.name);
    if (global == nullptr) return std::nullopt;
    steps_.push_back({Step::Kind::global, global->index, 0, &expr});
    return global->sort;
  }
  if (!expr.fields.empty() || !expr.label.empty()) return std::nullopt;
  const std::optional<TableId> table = scope_.table(expr.name);
  return table ? add_table(*table, expr) : add_primitive(expr);
}

std::optional<SortId> GroundCode::add_table(TableId table, const Expr& expr) {
  const TableDecl& decl = graph_.table(table);
  if (expr.args.size() != decl.params.size()) return std::nullopt;
  for (size_t i = 0; i < expr.args.size(); ++i) {
    if (add(*expr.args[i]) != decl.params[i]) return std::nullopt;
  }
  const bool makes = decl.constructor || decl.relation;
  steps_.push_back(
      {makes ? Step::Kind::make : Step::Kind::read, table, static_cast<uint32_t>(expr.args.size()), &expr});
  return result_sort(graph_, table);
}

std::optional<SortId> GroundCode::add_primitive(const Expr& expr) {
  const std::span<const PrimitiveId> overloads = scope_.primitives(expr.name);
  if (overloads.empty()) return std::nullopt;
  std::vector<SortId> sorts;
  for (const Expr* arg : expr.args) {
    const std::optional<SortId> sort = add(*arg);
    if (!sort) return std::nullopt;
    sorts.push_back(*sort);
  }
  std::optional<SortId> result;
  PrimitiveId chosen = kNone;
  for (const PrimitiveId overload : overloads) {
    const std::optional<SortId> sort = result_of(graph_.primitives()[overload], sorts);
    if (!sort) continue;
    if (result) return std::nullopt;
    result = sort;
    chosen = overload;
  }
  if (!result || graph_.primitives()[chosen].reads_tables) return std::nullopt;
  steps_.push_back({Step::Kind::call, chosen, static_cast<uint32_t>(expr.args.size()), &expr});
  return result;
}

Expected<Value> GroundCode::run_step(const Step& step, std::span<const Value> args) {
  switch (step.kind) {
    case Step::Kind::value:
      return step.id;
    case Step::Kind::global:
      return traced_ ? graph_.state().globals[step.id].second : graph_.global(step.id);
    case Step::Kind::make: {
      const Value value = graph_.make(step.id, args);
      return traced_ && graph_.table(step.id).constructor ? traced_id(graph_, step.id, args) : value;
    }
    case Step::Kind::read: {
      if (const std::optional<Value> value = graph_.lookup(step.id, args)) return *value;
      return error_at(
          step.expr->span,
          fmt::format("lookup of function `{}` failed: it has no value for these arguments", step.expr->name));
    }
    case Step::Kind::call:
      break;
  }
  PrimitiveContext context(graph_.sorts());
  if (const std::optional<Value> value = graph_.primitives()[step.id].apply(context, args)) return *value;
  return error_at(step.expr->span, fmt::format("call of primitive `{}` failed", step.expr->name));
}

Expected<std::vector<Value>> GroundCode::run() {
  const bool reads =
      std::any_of(steps_.begin(), steps_.end(), [](const Step& s) { return s.kind == Step::Kind::read; });
  if (reads) LUMEN_TRY(graph_.rebuild());
  std::vector<Value> stack;
  for (const Step& step : steps_) {
    const size_t base = stack.size() - step.arguments;
    const Value value = LUMEN_TRY(run_step(step, std::span<const Value>(stack).subspan(base)));
    stack.resize(base);
    stack.push_back(value);
  }
  return stack;
}

}  // namespace lumen::egraph
