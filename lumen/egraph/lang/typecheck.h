// Typer: from trees to trees in which every name is resolved and every expression has a sort.
//
// Sorts of variables are inferred from the tables and primitives they are used with. Everything given to one Typer is
// solved together: a head may decide the sort of an empty container in the body.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lumen/egraph/core/egraph.h"
#include "lumen/egraph/lang/ast.h"
#include "lumen/egraph/lang/scope.h"

namespace lumen::egraph {

// Facts of a relation have a sort of their own while types are checked: those of two relations are never equal. What is
// stored for them is the Unit.
inline constexpr SortId kFactSorts = 0x40000000;
inline bool is_fact_sort(SortId sort) { return sort >= kFactSorts && sort < kAnySort; }
// The sort of a call of the table.
inline SortId result_sort(const EGraph& graph, TableId table) {
  return graph.table(table).relation ? kFactSorts + table : graph.table(table).result;
}

inline SortId stored_sort(SortId sort) { return is_fact_sort(sort) ? kUnit : sort; }

using ExprId = uint32_t;  // position in TypedRule::exprs

struct TypedExpr {
  enum class Kind : uint8_t { variable, value, global, table, primitive };
  Kind kind = Kind::value;
  SortId sort = kNone;
  uint32_t id = 0;  // number of the variable, the Value, index of the global, TableId, PrimitiveId
  std::vector<ExprId> args;
  Span span;
};

struct TypedFact {
  Span span;
  ExprId left = 0;
  ExprId right = kNone;  // kNone: `left` alone must hold
};

struct TypedAction {
  enum class Kind : uint8_t { let, set, unite, erase, subsume, fail, eval };
  Kind kind = Kind::eval;
  Span span;
  uint32_t target = 0;        // number of the variable (let), TableId (set erase subsume), SortId (unite)
  std::vector<ExprId> exprs;  // set: the arguments, then the value
  std::string_view message;   // fail
};

struct TypedVariable {
  std::string_view name;
  SortId sort = kNone;
  Span span;
};

struct TypedRule {
  std::vector<TypedExpr> exprs;
  std::vector<TypedVariable> variables;
  uint32_t body_variables = 0;  // those after them are bound by let
  std::vector<TypedFact> facts;
  std::vector<TypedAction> actions;
};

class Typer {
 public:
  enum class Place : uint8_t {
    body,  // names that are not globals are variables
    rule,  // the head of a rule: functions must not be read
    free,  // top level, merge expressions: functions may be read
  };

  // `graph` and `scope` get the primitives that (unstable-fn "f" x) stands for.
  Typer(EGraph& graph, Scope& scope) : graph_(graph), scope_(scope) { scope.update(graph); }

  // In this order: given variables, facts, actions.
  void add_variable(std::string_view name, SortId sort);
  Expected<void> add_fact(const Fact& fact);
  Expected<void> add_action(const ActionNode& action, Place place);
  // An expression on its own, whose sort must be `sort` unless that is kNone.
  Expected<ExprId> add_expr(const Expr& expr, Place place, SortId sort = kNone);

  Expected<TypedRule> solve();

 private:
  struct Overloaded {
    ExprId expr = 0;
    std::string_view name;
    std::vector<PrimitiveId> candidates;
    bool resolved = false;
  };
  struct TypeVariable {
    uint32_t parent = 0;
    SortId sort = kNone;
  };

  uint32_t new_type(SortId sort);
  uint32_t root(uint32_t type);
  SortId known(ExprId expr) { return types_[root(type_of_[expr])].sort; }
  std::string name_of(SortId sort) const;

  Expected<void> constrain(ExprId expr, SortId sort);
  Expected<void> unify(ExprId a, ExprId b);

  ExprId push(TypedExpr expr, uint32_t type);
  Expected<ExprId> add_literal(const Expr& expr);
  Expected<ExprId> add_name(const Expr& expr, Place place);
  Expected<ExprId> add_call(const Expr& expr, Place place);
  Expected<ExprId> add_function_value(const Expr& expr, Place place);
  Expected<ExprId> add_fresh(const Expr& expr);
  void declare_fresh(ExprId expr);
  Expected<void> constrain_args(std::span<const ExprId> args, TableId table, const Expr& call);
  Expected<TableId> table_of(const Expr& call, std::string_view verb);
  Expected<void> add_let(const LetAction& let, const Span& span, Place place);
  Expected<void> add_set(const SetAction& set, const Span& span, Place place);
  Expected<void> add_union(const UnionAction& node, const Span& span, Place place);
  Expected<void> add_change(const ChangeAction& change, const Span& span, Place place);

  bool fits(const Overloaded& call, PrimitiveId primitive);
  Expected<void> commit(Overloaded& call, PrimitiveId primitive);
  Expected<bool> narrow(Overloaded& call);
  bool all_known(const Overloaded& call);
  Diag no_overload(const Overloaded& call);
  std::string signature(PrimitiveId primitive) const;

  EGraph& graph_;
  Scope& scope_;
  TypedRule rule_;
  std::vector<uint32_t> type_of_;  // by expr
  std::vector<TypeVariable> types_;
  std::vector<uint32_t> type_of_variable_;
  std::vector<Overloaded> overloaded_;
  std::vector<ExprId> fresh_;
  boost::unordered_flat_map<std::string_view, uint32_t> variables_;
};

// The value of a literal, and its sort.
SortId sort_of(const Literal& literal);
Value value_of(const Literal& literal, const EGraph& graph);

}  // namespace lumen::egraph
