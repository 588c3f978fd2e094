// From typed trees to what the engine runs: flat atoms, calls and actions over numbered variables (core/rule.h).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "lumen/egraph/core/rule.h"
#include "lumen/egraph/lang/scope.h"
#include "lumen/egraph/lang/typecheck.h"

namespace lumen::egraph {

// The facts of a rule. Nested patterns become atoms, (= a b) makes two variables one, equal sub-patterns are matched
// once; calls stand in an order in which their arguments are bound. A variable that nothing binds is an error.
struct LoweredBody {
  Query query;
  std::vector<Slot> variables;  // by variable of the typed rule, those of the body: where its value is found
};
Expected<LoweredBody> lower_body(const Scope& scope, const TypedRule& rule, const Span& where);

// Actions: equal terms are made once, and terms that the body has matched not at all.
class HeadLowering {
 public:
  // `variables`: as LoweredBody has them; fresh ones are numbered from `next`.
  HeadLowering(const EGraph& graph, const TypedRule& rule, std::vector<Slot> variables, uint32_t next);

  void know(const Atom& atom);  // matched: its result need not be made
  void add(const TypedAction& action);
  Slot value(ExprId expr);

  uint32_t variables() const { return next_; }
  std::vector<Action>& actions() { return actions_; }

 private:
  using Key = std::vector<uint32_t>;
  static Key key_of(TypedExpr::Kind kind, uint32_t id, const std::vector<Slot>& args);
  std::vector<Slot> values(const std::vector<ExprId>& exprs);

  const EGraph& graph_;
  const TypedRule& rule_;
  std::vector<Slot> variables_;
  uint32_t next_;
  std::map<Key, Slot> made_;
  std::vector<Action> actions_;
};

Expected<Rule> lower_rule(const EGraph& graph, const Scope& scope, const TypedRule& rule, const Span& where,
                          std::string name);

// (function f (...) S :merge body): the body with `old` and `new` as its variables 0 and 1.
struct LoweredMerge {
  Merge kind = Merge::lambda;
  Lambda lambda;
};
Expected<LoweredMerge> lower_merge(EGraph& graph, Scope& scope, const Expr& body, SortId result);

}  // namespace lumen::egraph
