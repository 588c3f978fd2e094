// Many rows of a table at once by one thread, some of their memory accesses at a time; many_rows.h does the same by
// several.
#pragma once

#include <cstdint>
#include <span>

#include "lumen/egraph/core/state.h"

namespace lumen::egraph {

// results[i] = table(keys[i * params ...]), canonical keys with their hashes, as State::make one after the other would
// make them; where there are `classes` a new row gets classes[i], not a new id. Returns the number of new rows.
size_t make_in_order(EGraph::State& state, TableId table, const Value* keys, std::span<const uint32_t> hashes,
                     const Value* classes, Value* results);

// Brings live rows, each given once, to their canonical forms: arguments keys[i * params ...] with their hashes, and
// results[i]. Where two rows have the same form one remains and the results are united. For tables where that is all a
// merge does and no row is subsumed, and not when tracing.
void replace_in_order(EGraph::State& state, TableId table, std::span<const Row> rows, const Value* keys,
                      const uint32_t* hashes, const Value* results);

// Unites a[i] and b[i]; returns how many were two classes.
size_t unite_in_order(EGraph::State& state, SortId sort, std::span<const Value> a, std::span<const Value> b);

}  // namespace lumen::egraph
