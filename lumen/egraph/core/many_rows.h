// Many rows of a table at once, by one or several threads with the same outcome: each thread owns a part of the
// table's slots; rows that are new are numbered afterwards in the order given.
#pragma once

#include <cstdint>
#include <span>

#include "lumen/egraph/core/state.h"

namespace lumen::egraph {

// results[i] = table(keys[i * params ...]), canonical keys with their hashes, as State::make one after the other would
// make them. Returns the number of new rows.
size_t make_many(EGraph::State& state, TableId table, const Value* keys, std::span<const uint64_t> hashes,
                 Value* results);

// Brings live rows, each given once, to their canonical forms: arguments keys[i * params ...] with their hashes, and
// results[i]. Where two rows have the same form one remains and the results are united. For tables where that is all a
// merge does and no row is subsumed, and not when tracing.
void replace_many(EGraph::State& state, TableId table, std::span<const Row> rows, const Value* keys,
                  std::span<const uint64_t> hashes, const Value* results);

// Unites a[i] and b[i] by all threads; returns how many were two classes.
size_t unite_many(EGraph::State& state, SortId sort, std::span<const Value> a, std::span<const Value> b);

}  // namespace lumen::egraph
