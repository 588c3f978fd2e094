// Search: finds the matches of a Plan in the tables as they were up to given rows. It only reads when frozen, so that
// several searches may run at once; otherwise it makes the indexes that it misses.
#pragma once

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "lumen/egraph/core/plan.h"
#include "lumen/egraph/core/state.h"

namespace lumen::egraph {

using Deadline = std::chrono::steady_clock::time_point;

// The rows an atom may match: [begin, end); those from `fresh` on are new to the rule.
struct AtomRange {
  Row begin = 0;
  Row end = 0;
  Row fresh = 0;
};

// The values of plan.constants(), with those of globals.
std::vector<Value> constant_values(const Plan& plan, const std::function<Value(uint32_t)>& global);

// What the search of one rule shares between threads.
struct SearchShared {
  EGraph::State& state;
  const Plan& plan;
  std::vector<Value> constants;    // values of plan.constants()
  std::vector<uint32_t> outputs;   // the registers that make up a match
  bool rows = false;               // and after them the row of each atom
  const std::vector<Row>* limits;  // by table: rows from there on do not exist yet

  size_t width() const { return outputs.size() + (rows ? plan.atoms() : 0); }  // values per match
};

class Search {
 public:
  // Matches kept before the sink is called.
  static constexpr size_t kSinkMatches = 16384;
  // `sink` is called with the matches found whenever there are many, and may append to tables; empty: all are kept.
  // So are matches without values, which are only counted.
  Search(const SearchShared& shared, std::function<bool(GrowArray<Value>&)> sink = {});

  // Only matches with at least one fresh row when `only_fresh`.
  void set_ranges(std::span<const AtomRange> ranges, bool only_fresh);

  // Whether the constants and the calls on them allow any match; and how many rows the first join would look at.
  bool start();
  // As `other` was started, of the same shared part: with its ranges, deadline and candidates.
  void start_as(const Search& other);
  // Visits the candidates [begin, end) of the first join. False when the sink said to stop.
  bool run(size_t begin, size_t end);
  size_t candidates() const { return first_.count; }
  size_t visited() const { return visited_; }  // of the candidates, about
  size_t width() const { return shared_.width(); }
  uint64_t joins() const { return joins_; }  // rows looked at

  GrowArray<Value> matches;  // not yet given to the sink
  size_t found = 0;
  // Frozen, and an index or an interned value was missing: what was found is not complete, run it again unfrozen.
  bool needs_serial = false;
  bool stop_at_first = false;
  void set_frozen(bool frozen);
  void set_deadline(Deadline deadline) { deadline_ = deadline; }
  bool timed_out = false;
  // Gives up (run() is false, exhausted true) after this many rows were looked at.
  void set_budget(uint64_t joins) {
    budget_ = joins;
    pause_at_ = std::min(pause_at_, joins);
  }
  bool exhausted = false;

 private:
  struct Candidates {
    const Step* step = nullptr;
    size_t count = 0;
    const Row* rows = nullptr;  // null: the rows from `first` on
    Row first = 0;
    uint32_t column = kNone;  // the column whose index gave the rows
  };
  bool choose(const Node& node, Candidates& best);
  bool candidates_of(const Step& step, Candidates& some);
  bool visit(const Node& node, bool fresh);
  bool join_all(const Candidates& some, const Node& next, size_t begin, size_t end, bool fresh);
  bool fits(const Step& step, Row row, uint32_t column) const;
  bool join(const Node& next, const Step& step, Row row, bool fresh);
  bool run_calls(std::span<const BoundCall> calls);
  bool emit();
  const Index* make_index(TableId table, uint32_t column);
  bool pause();

  const SearchShared& shared_;
  EGraph::State& state_;
  std::function<bool(GrowArray<Value>&)> sink_;
  size_t sink_from_;  // values
  std::vector<Value> regs_;
  std::vector<AtomRange> ranges_;
  std::vector<Row> rows_;  // by atom
  std::vector<Value> args_;
  bool only_fresh_ = false;
  Candidates first_;
  size_t visited_ = 0;
  uint64_t joins_ = 0;
  uint64_t pause_at_ = 0x10000;  // joins after which to look at the clock and the budget
  uint64_t budget_ = ~uint64_t{0};
  Deadline deadline_ = Deadline::max();
  std::unique_ptr<PrimitiveContext> context_;
};

}  // namespace lumen::egraph
