// The same terms as State::make one after the other would make, with the same rows and ids, by several threads:
// each owns a part of the table's slots; the rows that are missing are numbered afterwards in the order given.
#pragma once

#include <cstdint>
#include <span>

#include "lumen/egraph/core/state.h"

namespace lumen::egraph {

// results[i] = table(keys[i * params ...]), canonical keys with their hashes. Returns the number of new rows.
size_t make_many(EGraph::State& state, TableId table, const Value* keys, std::span<const uint64_t> hashes,
                 Value* results);

}  // namespace lumen::egraph
