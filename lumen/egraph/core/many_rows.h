// Many rows of a table at once by several threads, with the outcome that rows_in_order.h has by one: see entry.h.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "lumen/egraph/core/entry.h"
#include "lumen/egraph/core/state.h"

namespace lumen::egraph {

// Below this many keys the threads cost more than they bring.
inline constexpr size_t kManyKeys = 2048;

// What make_in_order does, in stages.
class MakeMany {
 public:
  struct Given {
    const Value* keys;
    const uint32_t* hashes;
    const Value* classes;  // may be null
  };
  // `before`: the one that is finished in the stage in which this one is entered, or null. The tables have room.
  MakeMany(EGraph::State& state, TableId table, const Division& division, const Given& given, Value* results,
           const MakeMany* before);
  // Enters the keys of a range, which are there.
  void enter(size_t range);
  // When all are entered, by one thread: how many rows are made.
  size_t number();
  // In the next stage.
  void finish(size_t range);

 private:
  template <class Count>
  struct Keys;
  template <class Count>
  void finish(size_t range, Count params);
  template <class Count>
  void finish_facts(size_t range, Count params);
  Value result_of(Row candidate) const;

  EGraph::State& state_;
  const uint32_t side_;
  Entry entry_;
  const MakeMany* before_;  // in the same table
  UnionFind* ids_;          // of new rows, when they have ids of their own
  const Value* classes_;
  Value first_id_ = 0;
  Value id_step_ = 0;
  Value* results_;
};

// Merges classes, range by range in one stage.
class UniteMany {
 public:
  UniteMany(EGraph::State& state, SortId sort, size_t ranges);
  void unite(size_t range, Value a, Value b) { ids_.unite_shared(a, b, logs_[range]); }
  // When all of a range are united.
  void end_range(size_t range) { ids_.mark_displaced(logs_[range]); }
  // When the stage is over, by one thread: how many were two classes.
  size_t end();

 private:
  EGraph::State& state_;
  UnionFind& ids_;
  std::span<GrowArray<Value>> logs_;  // by range
};

// What replace_in_order does. prepare(begin, end) makes the keys, hashes and results of some rows.
struct Replacement {
  std::span<const Row> rows;
  const Value* keys;
  const uint32_t* hashes;
  const Value* results;
};
void replace_many(EGraph::State& state, TableId table, const Replacement& replacement,
                  const std::function<void(size_t begin, size_t end)>& prepare);

}  // namespace lumen::egraph
