// An e-graph engine in the plainest way, from the definition of the language: tables are lists of rows, matching is
// nested loops over all rows, rebuilding is a scan until nothing changes. What the real engine is checked against.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "lumen/egraph/core/egraph.h"

namespace lumen::egraph::naive {

struct NaiveRow {
  std::vector<Value> columns;  // the arguments, then the result
  bool subsumed = false;
  uint64_t born = 0;  // the step in which the row came to be, or one of its columns changed
};

class NaiveEngine {
 public:
  // The sorts, primitives, tables, globals' places and rules of `declared`, which has no rows. Pools are shared with
  // it.
  explicit NaiveEngine(const EGraph& declared);

  void set_globals(std::vector<std::pair<SortId, Value>> globals) { globals_ = std::move(globals); }
  // Runs actions outside rules; the values of the variables. Every action must succeed.
  std::vector<Value> run_actions(uint32_t variables, std::span<const Action> actions);
  // One iteration. Semi-naive: a match counts only when a row of it was born after the rule ran last.
  // False, with nothing done, when there is more work than `budget` rows to look at.
  bool run(std::span<const RuleId> rules, bool seminaive, uint64_t budget);

  const std::vector<std::vector<NaiveRow>>& tables() const { return rows_; }
  size_t row_count() const;
  Value find(SortId sort, Value value);

 private:
  using Binding = std::vector<std::optional<Value>>;
  struct Match {
    RuleId rule;
    Binding values;
  };
  struct Change {
    Action::Kind kind;
    TableId table;
    std::vector<Value> values;
  };
  Value constant(const Slot& slot);
  bool unify(const Slot& slot, Value value, Binding& binding);
  void match(const Query& query, RuleId rule, size_t atom, bool fresh, const Binding& binding);
  bool call_all(const Query& query, Binding& binding);
  void act(std::span<const Action> actions, Binding& binding);
  std::optional<Value> call(PrimitiveId primitive, const std::vector<Value>& args);
  Value make(TableId table, const std::vector<Value>& args);
  NaiveRow* row_of(TableId table, std::span<const Value> args);
  void apply_changes();
  void put(TableId table, const NaiveRow& row);
  Value merged(TableId table, Value old_value, Value new_value);
  bool rebuild_table(TableId table);
  void rebuild();

  std::vector<Sort> sorts_;
  std::vector<Primitive> primitives_;
  std::vector<TableDecl> decls_;
  std::vector<Rule> rules_;
  std::vector<std::pair<SortId, Value>> globals_;
  std::vector<std::vector<Value>> parents_;  // by sort and id
  std::vector<std::vector<NaiveRow>> rows_;  // by table
  std::vector<uint64_t> ran_;                // by rule: the step of its last run
  uint64_t step_ = 1;

  std::vector<Change> changes_;
  std::vector<Match> matches_;
  bool seminaive_ = true;
  uint64_t budget_ = 0;
};

}  // namespace lumen::egraph::naive
