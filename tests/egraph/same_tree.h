// Whether two syntax trees are the same, spans and the names of wildcards aside.
#pragma once

#include <cmath>
#include <memory>
#include <optional>
#include <span>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "lumen/egraph/lang/ast.h"

namespace lumen::egraph {

inline auto parts(const Fact& n) { return std::tie(n.equal, n.left, n.right); }
inline auto parts(const FieldArg& n) { return std::tie(n.name, n.value); }
inline auto parts(const LetAction& n) { return std::tie(n.name, n.value); }
inline auto parts(const SetAction& n) { return std::tie(n.call, n.value); }
inline auto parts(const UnionAction& n) { return std::tie(n.left, n.right); }
inline auto parts(const ChangeAction& n) { return std::tie(n.subsume, n.call); }
inline auto parts(const PanicAction& n) { return std::tie(n.message); }
inline auto parts(const ExprAction& n) { return std::tie(n.expr); }
inline auto parts(const ActionNode& n) { return std::tie(n.node); }
inline auto parts(const RunNode& n) { return std::tie(n.ruleset, n.until, n.scheduler); }
inline auto parts(const RepeatNode& n) { return std::tie(n.times, n.body); }
inline auto parts(const SaturateNode& n) { return std::tie(n.body); }
inline auto parts(const SeqNode& n) { return std::tie(n.body); }
inline auto parts(const SchedulerNode& n) { return std::tie(n.name, n.kind, n.match_limit, n.ban_length); }
inline auto parts(const Schedule& n) { return std::tie(n.node); }
inline auto parts(const Params& n) { return std::tie(n.sorts, n.names); }
inline auto parts(const Presort& n) { return std::tie(n.name, n.args); }
inline auto parts(const Variant& n) { return std::tie(n.name, n.params, n.cost, n.unextractable); }
inline auto parts(const DatatypeBody& n) { return std::tie(n.name, n.variants, n.presort); }
inline auto parts(const SortCommand& n) { return std::tie(n.name, n.presort); }
inline auto parts(const DatatypeCommand& n) { return std::tie(n.body); }
inline auto parts(const DatatypesCommand& n) { return std::tie(n.bodies); }
inline auto parts(const FunctionCommand& n) {
  return std::tie(n.name, n.params, n.result, n.merge, n.unextractable, n.hidden, n.cost);
}
inline auto parts(const ConstructorCommand& n) {
  return std::tie(n.name, n.params, n.result, n.cost, n.unextractable, n.hidden);
}
inline auto parts(const RelationCommand& n) { return std::tie(n.name, n.params); }
inline auto parts(const RulesetCommand& n) { return std::tie(n.name); }
inline auto parts(const CombinedRulesetCommand& n) { return std::tie(n.name, n.parts); }
inline auto parts(const RuleCommand& n) {
  return std::tie(n.body, n.head, n.ruleset, n.name, n.naive, n.unsafe_seminaive, n.no_decomp, n.include_subsumed);
}
inline auto parts(const RewriteCommand& n) {
  return std::tie(n.left, n.right, n.conditions, n.ruleset, n.name, n.subsume, n.both_ways);
}
inline auto parts(const ActionCommand& n) { return std::tie(n.action); }
inline auto parts(const RunScheduleCommand& n) { return std::tie(n.body); }
inline auto parts(const ExtractCommand& n) { return std::tie(n.expr, n.variants, n.greedy_dag); }
inline auto parts(const CheckCommand& n) { return std::tie(n.facts); }
inline auto parts(const PushCommand& n) { return std::tie(n.times); }
inline auto parts(const PopCommand& n) { return std::tie(n.times); }
inline auto parts(const PrintStatsCommand& n) { return std::tie(n.file); }
inline auto parts(const PrintFunctionCommand& n) { return std::tie(n.name, n.rows, n.file, n.csv); }
inline auto parts(const PrintSizeCommand& n) { return std::tie(n.name); }
inline auto parts(const InputCommand& n) { return std::tie(n.name, n.file); }
inline auto parts(const OutputCommand& n) { return std::tie(n.file, n.exprs); }
inline auto parts(const IncludeCommand& n) { return std::tie(n.file); }
inline auto parts(const SimplifyCommand& n) { return std::tie(n.schedule, n.expr); }
inline auto parts(const FailCommand& n) { return std::tie(n.command); }
inline auto parts(const ExplainCommand& n) { return std::tie(n.left, n.right); }
inline auto parts(const WhyNotCommand& n) { return std::tie(n.rule, n.term); }
inline auto parts(const Command& n) { return std::tie(n.node); }

inline bool same(std::string_view a, std::string_view b) { return a == b; }
inline bool same(uint64_t a, uint64_t b) { return a == b; }
inline bool same(bool a, bool b) { return a == b; }
bool same(const Expr* a, const Expr* b);
template <class T>
bool same(const T& a, const T& b);
template <class T>
bool same(const std::optional<T>& a, const std::optional<T>& b) {
  return a.has_value() == b.has_value() && (!a || same(*a, *b));
}
template <class T>
bool same_items(std::span<const T> a, std::span<const T> b) {
  bool equal = a.size() == b.size();
  for (size_t k = 0; equal && k < a.size(); ++k) equal = same(a[k], b[k]);
  return equal;
}
template <class T>
bool same(const std::vector<T>& a, const std::vector<T>& b) {
  return same_items(std::span<const T>(a), std::span<const T>(b));
}
inline bool same(const std::shared_ptr<const Command>& a, const std::shared_ptr<const Command>& b) {
  return same(*a, *b);
}
template <class... Ts>
bool same(const std::variant<Ts...>& a, const std::variant<Ts...>& b) {
  return a.index() == b.index() &&
         std::visit([&](const auto& x) { return same(x, std::get<std::decay_t<decltype(x)>>(b)); }, a);
}
template <class... Ts>
bool same_parts(const std::tuple<const Ts&...>& a, const std::tuple<const Ts&...>& b) {
  return [&]<size_t... k>(std::index_sequence<k...>) { return (same(std::get<k>(a), std::get<k>(b)) && ...); }
  (std::index_sequence_for<Ts...>());
}
template <class T>
bool same(const T& a, const T& b) {
  return same_parts(parts(a), parts(b));
}

inline bool same_literal(const Literal& a, const Literal& b) {
  if (a.kind != b.kind) return false;
  switch (a.kind) {
    case Literal::Kind::integer:
      return a.integer == b.integer;
    case Literal::Kind::real:
      return std::isnan(a.real) ? std::isnan(b.real) : a.real == b.real && std::signbit(a.real) == std::signbit(b.real);
    case Literal::Kind::string:
      return a.string == b.string;
    case Literal::Kind::boolean:
      return a.boolean == b.boolean;
    case Literal::Kind::unit:
      return true;
  }
  return false;
}

// Expressions may be deeper than a stack.
inline bool same(const Expr* first, const Expr* second) {
  std::vector<std::pair<const Expr*, const Expr*>> open{{first, second}};
  while (!open.empty()) {
    const auto [a, b] = open.back();
    open.pop_back();
    if (a == b) continue;
    if (a == nullptr || b == nullptr || a->kind != b->kind || a->label != b->label) return false;
    if (a->kind == Expr::Kind::literal) {
      if (!same_literal(a->literal, b->literal)) return false;
      continue;
    }
    if (a->kind == Expr::Kind::variable && a->name.starts_with("@_") && b->name.starts_with("@_")) continue;
    if (a->name != b->name || a->args.size() != b->args.size() || !same_items(a->fields, b->fields)) return false;
    for (size_t k = 0; k < a->args.size(); ++k) open.emplace_back(a->args[k], b->args[k]);
  }
  return true;
}

}  // namespace lumen::egraph
