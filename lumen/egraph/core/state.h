// What an EGraph consists of; shared by the sources of core/ and by explanation.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "lumen/egraph/core/egraph.h"
#include "lumen/egraph/core/head.h"
#include "lumen/egraph/core/plan.h"
#include "lumen/egraph/core/table.h"
#include "lumen/egraph/core/trace.h"
#include "lumen/egraph/core/union_find.h"
#include "lumen/egraph/core/workers.h"

namespace lumen::egraph {

// A change that waits until matching is over: rules see the state as it was when the iteration began.
struct PendingChange {
  enum class Kind : uint8_t { erase, set, subsume };
  Kind kind;
  TableId table;
  size_t start;  // in EGraph::State::pending_values: the arguments, and for set the value
};

struct RuleState {
  explicit RuleState(Rule r);
  RuleState(const RuleState& other);

  Rule rule;
  Plan plan;
  Head head;
  RuleReport report;
};

// What a rule has matched already.
struct Seen {
  std::vector<Row> rows;  // by atom: the rows of its table before this one
  bool fired = false;     // for rules without atoms, which fire once
};

// Where Entry keeps what it finds (entry.h).
struct EntryFound {
  Row row;        // that has the key's arguments, or the candidate that does; kNone: the key was not entered
  uint64_t data;  // the result of a row; the slot of a candidate that is of the key itself
};
struct alignas(64) EntryRange {
  size_t used = 0;                             // slots that were free before
  std::vector<std::pair<Row, Row>> displaced;  // candidates, each with the earlier one that took its slot
};
struct EntrySpace {
  std::vector<EntryFound> found;   // by key
  std::vector<uint64_t> numbered;  // bits by key: it gets a new row at the end of the table
  std::vector<Row> before;         // by word of those: how many come before
  std::vector<EntryRange> ranges;
};

struct EGraph::State {
  std::vector<Sort> sorts;
  std::vector<UnionFind> ids;  // by sort: of eq sorts and of containers that hold ids; empty for the others
  std::vector<Primitive> primitives;
  std::vector<Table> tables;
  std::vector<std::unique_ptr<RuleState>> rules;
  // By book and rule. Plain runs write book 0; every back-off scheduler has a book of its own, as in egglog.
  std::vector<std::vector<Seen>> seen{1};
  std::vector<std::pair<SortId, Value>> globals;

  std::vector<PendingChange> pending;
  std::vector<Value> pending_values;
  // By table: rows before it may have been seen by rules and are replaced, not changed; the others are the tail.
  std::vector<Row> clean;
  std::vector<size_t> clean_containers;  // by sort: values before it were canonical at the last rebuild
  size_t changes = 0;                // rows added, changed, killed or subsumed so far: tells whether a run did anything
  std::unique_ptr<Trace> trace;      // null unless tracing
  std::unique_ptr<Workers> workers;  // null unless a run may use several threads
  GrowArray<Row> scratch_rows;       // rebuild_table
  std::vector<Value> scratch_keys;   // rebuild_rows
  std::vector<Value> scratch_results;
  std::vector<uint32_t> scratch_hashes;
  std::array<EntrySpace, 2> scratch_entries;      // by side
  std::vector<GrowArray<Value>> scratch_logs;     // ids displaced by one range of a block
  std::vector<GrowArray<Value>> scratch_matches;  // of the pieces of a search by several threads
  std::string failure;                            // of an action or a merge: what stops the run

  State() = default;
  State(const State& other);

  bool holds_ids(SortId sort) const { return sorts[sort].holds_ids; }
  Value find(SortId sort, Value value) { return holds_ids(sort) ? find_id(sort, value) : value; }
  Value find_id(SortId sort, Value value) {
    UnionFind& sort_ids = ids[sort];
    return value < sort_ids.size() ? sort_ids.find(value) : value;  // a container may have been made just now
  }
  // The same without shortening paths: several threads may ask.
  Value root_of(SortId sort, Value value) const {
    const UnionFind& sort_ids = ids[sort];
    return value < sort_ids.size() ? sort_ids.find(value) : value;  // no ids at all for sorts that hold none
  }
  void canonicalize(const TableDecl& decl, Value* args);
  // The number of values a column of the sort can have, or 0 when there is no small bound.
  size_t range_of(SortId sort) const { return holds_ids(sort) ? ids[sort].size() : 0; }

  // table(args), canonical arguments, made when missing.
  Value make(TableId table, const Value* args, uint32_t h) {
    Table& t = tables[table];
    t.reserve(1);
    const Row next = t.rows();
    const Table::Place place = t.place(args, h, next, t.params);
    if (!place.fresh) return place.result;
    Value* row = t.extend(1, place.was_free ? 1 : 0);
    for (uint32_t i = 0; i < t.params; ++i) row[i] = args[i];
    row[t.params] = t.decl.constructor ? ids[t.decl.result].add() : Value{0};
    ++changes;
    if (trace != nullptr && t.decl.constructor) trace->set_row_id(table, next, row[t.params]);
    return row[t.params];
  }
  bool unite(SortId sort, Value a, Value b, const Reason& reason);
  void mark_facts(Query& query) const;
  void stage(PendingChange::Kind kind, TableId table, std::span<const Value> values);

  // Does what is pending, makes tables and containers congruent, and forgets the log of merges. Fails with `failure`.
  Expected<void> rebuild();
  // Brings the indexes that searches used since the last time up to the last row.
  void catch_up_indexes();
  size_t bytes() const;
  uint64_t live_rows() const;
  // Of the tables of these names; of all tables and the globals for no name.
  int64_t count_rows(std::span<const std::string> names) const;

  // ---- rebuild.cpp

  void flush();
  void erase_old_row(TableId table, const Value* args);
  // The value of table(args) becomes `value`, merged with what is there.
  void put(TableId table, const Value* args, Value value, bool subsumed);
  void merge_into(TableId table, Row r, Value value);
  void change_result(TableId table, Row r, Value value);
  void append_in_place_of(TableId table, Row r, const Value* args, Value value, uint32_t h);
  std::optional<Value> run_merge(TableId table, Value old_value, Value new_value);
  void rebuild_containers();
  void rebuild_table(TableId table, std::span<const GrowArray<Value>> displaced);
  // Brings live rows, each given once, to their canonical form; together, so that their memory accesses overlap.
  void rebuild_rows(TableId table, std::span<const Row> rows);
  void replace_row(TableId table, Row r, const Value* args, uint32_t h);
};

}  // namespace lumen::egraph
