// EGraph: tables of terms and facts, the equalities between them, and the rules that add more of both.
//
// Copying an EGraph copies its whole state (that is what push and pop do); pools of interned values are shared.
// Not thread-safe; run() uses threads inside when asked to and gives the same result for any number of them.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lumen/base/expected.h"
#include "lumen/egraph/core/kept_matches.h"
#include "lumen/egraph/core/primitive.h"
#include "lumen/egraph/core/rule.h"
#include "lumen/egraph/core/sort.h"
#include "lumen/egraph/core/value.h"

namespace lumen::egraph {

// Hard limits; reaching one stops the run between two matches, leaves a rebuilt e-graph, and is reported.
struct Limits {
  uint64_t rows = uint64_t{1} << 32;   // live rows of all tables together
  uint64_t bytes = uint64_t{1} << 40;  // what tables, indexes and buffers hold
  double seconds = 1e18;               // of one run()
};

struct RunOptions {
  int threads = 1;
  bool seminaive = true;  // false: every rule matches everything at every run
  // With several threads, a join is shared between them when its first step looks at more rows than this; tests lower
  // it to reach the threads with small tables.
  size_t parallel_from = 1024;
  Limits limits;
};

// What became of one rule, over all runs so far.
struct RuleReport {
  std::string name;
  uint64_t runs = 0;
  uint64_t joins = 0;  // rows its search looked at
  uint64_t matches = 0;
  uint64_t rows = 0;    // new rows its actions made
  uint64_t unions = 0;  // classes they merged
  double search_seconds = 0;
  double apply_seconds = 0;
};

// One iteration of a set of rules.
struct IterationReport {
  bool changed = false;
  std::string limit;  // "rows", "bytes", "seconds" with the numbers and the rule at work; empty: none was hit
  uint64_t matches = 0;
  uint64_t rows = 0;     // live, after
  uint64_t classes = 0;  // after, over all eq sorts, deleted terms included
  uint64_t bytes = 0;    // held, after
  double search_seconds = 0;
  double apply_seconds = 0;
  double rebuild_seconds = 0;
};

// Bans a rule for a while when it matches too often, as egg's back-off scheduler does: a rule with more than
// match_limit * 2^bans matches waits for ban_length * 2^bans iterations; its matches are kept, not lost.
class BackOff {
 public:
  explicit BackOff(uint64_t match_limit = 1000, uint64_t ban_length = 5)
      : match_limit_(match_limit), ban_length_(ban_length) {}

 private:
  friend class EGraph;
  struct RuleState {
    uint64_t iteration = 0;
    uint64_t banned_until = 0;
    uint64_t bans = 0;
    bool seek = true;  // match again at the next run; not while the kept matches wait
    KeptMatches matches;
  };
  RuleState& state_of(RuleId rule);
  // Counts an iteration of the rule; true when its kept matches are to be applied now.
  bool release(RuleId rule);
  // Nothing changed: shortens the bans of `rules` by the shortest of them. True when none was banned.
  bool can_stop(std::span<const RuleId> rules);

  uint64_t match_limit_;
  uint64_t ban_length_;
  uint32_t book_ = kNone;         // of EGraph::State::seen
  std::vector<RuleState> rules_;  // by RuleId
};

class EGraph {
 public:
  EGraph();
  EGraph(const EGraph&);
  EGraph& operator=(const EGraph&);
  EGraph(EGraph&&) noexcept;
  EGraph& operator=(EGraph&&) noexcept;
  ~EGraph();

  // ---- declarations

  SortId add_sort(std::string name);  // an eq sort
  SortId add_sort(Sort sort);         // a container or base sort; a container's primitives come with it
  // A base sort whose values are C++ objects: `hash` must be a function of what == compares.
  template <class T>
  SortId add_host_sort(std::string name, std::function<uint64_t(const T&)> hash,
                       std::function<std::string(const T&)> print) {
    return add_sort(Sort{std::move(name),
                         SortKind::base,
                         {},
                         {},
                         false,
                         std::make_shared<ValuePool<T>>(std::move(hash), std::move(print))});
  }
  template <class T>
  Value intern(SortId sort, T value) {
    return sorts()[sort].template values<T>().intern(std::move(value));
  }
  template <class T>
  const T& host_value(SortId sort, Value value) const {
    return sorts()[sort].template values<T>().at(value);
  }
  PrimitiveId add_primitive(Primitive primitive);
  TableId add_table(TableDecl decl);
  uint32_t add_global(SortId sort, Value value);
  RuleId add_rule(Rule rule);

  const std::vector<Sort>& sorts() const;
  const std::vector<Primitive>& primitives() const;
  size_t table_count() const;
  const TableDecl& table(TableId table) const;
  const Rule& rule(RuleId rule) const;
  size_t rule_count() const;

  // ---- terms

  // The representative of a value: of an id its class, of a container the one with representatives inside.
  Value find(SortId sort, Value value) const;
  Value global(uint32_t index) const;
  // table(args), made when missing. Constructors and relations.
  Value make(TableId table, std::span<const Value> args);
  std::optional<Value> lookup(TableId table, std::span<const Value> args) const;
  // Function entry, merged with what is there by the table's rule.
  Expected<void> set(TableId table, std::span<const Value> args, Value value);
  bool unite(SortId sort, Value a, Value b);  // true when they were two classes
  Expected<void> erase(TableId table, std::span<const Value> args);
  void subsume(TableId table, std::span<const Value> args);
  // Runs actions outside any rule; the values of all `variables` are returned. Reading functions is allowed here.
  Expected<std::vector<Value>> run_actions(uint32_t variables, std::span<const Action> actions);
  // Makes the tables congruent again after terms, sets, unions or erasures; the reading and running functions below
  // call it themselves.
  Expected<void> rebuild();

  // ---- rules and queries

  // One iteration: matches all rules on the state as it is, then applies them all, then rebuilds.
  Expected<IterationReport> run(std::span<const RuleId> rules, const RunOptions& options, BackOff* back_off = nullptr);
  // Whether some binding satisfies the query; and one binding of its variables.
  Expected<bool> holds(const Query& query);
  Expected<std::optional<std::vector<Value>>> first_match(const Query& query);
  const RuleReport& report(RuleId rule) const;

  // For a rule whose first atom with result variable `root` is to match the class `term`: how far matching gets.
  // See why_not.h.

  // ---- reading (rebuilt state)

  size_t row_count(TableId table) const;  // live
  // In order of insertion. The columns are the arguments and the result, all representatives.
  void for_each_row(TableId table, const std::function<void(std::span<const Value> columns, bool subsumed)>& visit);
  size_t class_count() const;  // of all eq sorts, those with a term
  size_t bytes() const;

  // ---- explanation (explain.h reads what is recorded)

  // Before the first term is made: records how every term came to be and why classes were merged.
  void enable_tracing();

  struct State;
  State& state() { return *state_; }
  const State& state() const { return *state_; }

 private:
  std::unique_ptr<State> state_;
};

}  // namespace lumen::egraph
