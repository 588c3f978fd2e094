#include "lumen/egraph/core/make_many.h"

#include <algorithm>
#include <bit>
#include <vector>

#include "lumen/egraph/core/workers.h"

namespace lumen::egraph {

namespace {

// What one thread found for the keys in its part of the slots.
struct PartWork {
  std::vector<uint32_t> keys;  // numbers of its keys, ascending
  size_t used = 0;
};

// Enters the keys of a part; the places go to `places`.
void enter_part(Table& table, PartWork& part, const Value* keys, std::span<const uint64_t> hashes, Row base,
                std::vector<Table::Place>& places) {
  constexpr size_t kAhead = 24;
  const uint32_t params = table.params;
  for (size_t k = 0; k < part.keys.size(); ++k) {
    if (k + kAhead < part.keys.size()) table.prefetch(hashes[part.keys[k + kAhead]]);
    if (k + kAhead / 2 < part.keys.size()) table.prefetch_row(hashes[part.keys[k + kAhead / 2]], base);
    const uint32_t i = part.keys[k];
    places[i] = table.place(keys + size_t{i} * params, hashes[i], base + i, base, keys);
    if (places[i].was_free) ++part.used;
  }
}

}  // namespace

size_t make_many(EGraph::State& state, TableId table, const Value* keys, std::span<const uint64_t> hashes,
                 Value* results) {
  Table& t = state.tables[table];
  Workers& workers = *state.workers;
  const size_t count = hashes.size();
  const size_t parts = std::min<size_t>(std::bit_ceil(workers.threads()), Table::kParts);
  t.reserve(count);
  const Row base = t.rows();
  std::vector<Table::Place> places(count);
  std::vector<PartWork> work(parts);
  workers.run(parts, [&](size_t p) {
    for (uint32_t i = 0; i < count; ++i) {
      if (t.part(hashes[i], parts) == p) work[p].keys.push_back(i);
    }
    enter_part(t, work[p], keys, hashes, base, places);
  });
  std::vector<Row> rank(count);  // of the fresh ones: how many fresh ones come before
  Row fresh = 0;
  for (size_t i = 0; i < count; ++i) {
    rank[i] = fresh;
    if (places[i].fresh) ++fresh;
  }
  size_t used = 0;
  for (const PartWork& part : work) used += part.used;
  Value* rows = t.extend(fresh, used);
  const Value first_id = t.decl.constructor ? state.ids[t.decl.result].add_many(fresh) : Value{0};
  const uint32_t params = t.params;
  const size_t piece = (count + parts - 1) / parts;
  workers.run(parts, [&](size_t p) {
    for (size_t i = p * piece; i < std::min(count, (p + 1) * piece); ++i) {
      const Table::Place& place = places[i];
      if (place.row < base) {
        results[i] = t.result(place.row);
        continue;
      }
      const Row number = rank[place.row - base];
      results[i] = t.decl.constructor ? first_id + number : Value{0};
      if (!place.fresh) continue;
      Value* row = rows + size_t{number} * t.columns();
      std::copy_n(keys + i * params, params, row);
      row[params] = results[i];
      t.settle(place.slot, base + number);
    }
  });
  state.changes += fresh;
  return fresh;
}

}  // namespace lumen::egraph
