// Many rows of a table at once by several threads, with the outcome that rows_in_order.h has by one: see entry.h.
#pragma once

#include <cstdint>
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
  // Enters the keys.
  MakeMany(EGraph::State& state, TableId table, const Division& division, const Given& given, Value* results);
  size_t made() const { return entry_.numbered(); }
  // In the next stage, for all ranges and all parts.
  void finish(size_t range);
  void settle(size_t part) { entry_.settle(part); }

 private:
  template <class Count>
  void finish(size_t range, Count params);
  template <class Count>
  void finish_facts(size_t range, Count params);
  Value of_new(uint32_t i) const;

  Entry entry_;
  const Value* classes_;
  Value first_id_ = 0;  // of new rows, when they have ids of their own
  Value id_step_ = 0;
  Value* rows_;
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

// What replace_in_order does, the keys being there and listed.
void replace_many(EGraph::State& state, TableId table, const Division& division, std::span<const Row> rows,
                  const Value* keys, const uint32_t* hashes, const Value* results);

}  // namespace lumen::egraph
