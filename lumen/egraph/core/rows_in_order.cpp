#include "lumen/egraph/core/rows_in_order.h"

#include <algorithm>
#include <vector>

namespace lumen::egraph {

namespace {

// Keys whose memory accesses overlap: the first of them stay in the nearest cache while the last are fetched.
constexpr size_t kOrderedBatch = 256;

template <class Count>
void write_row(Value* to, const Value* key, Value result, Count params) {
  for (uint32_t p = 0; p < params; ++p) to[p] = key[p];
  to[params] = result;
}

// Always inline, as what it calls: it would be taken for a function without effect.
[[gnu::always_inline]] inline void prefetch(const Table& t, std::span<const uint32_t> hashes) {
  for (const uint32_t h : hashes) t.prefetch(h);
  for (const uint32_t h : hashes) t.prefetch_row(h);
}

// Returns the number of new rows.
template <class Count>
size_t make_batch(EGraph::State& state, TableId table, const Value* keys, std::span<const uint32_t> hashes,
                  const Value* classes, Value* results, Count params) {
  Table& t = state.tables[table];
  prefetch(t, hashes);
  UnionFind* ids = t.decl.constructor && classes == nullptr ? &state.ids[t.decl.result] : nullptr;
  const Value first_id = ids != nullptr ? static_cast<Value>(ids->size()) : Value{0};
  const Value id_step = ids != nullptr ? 1 : 0;
  Value* to = t.room(hashes.size());
  const Row base = t.rows();
  Row made = 0;
  size_t used = 0;
  for (size_t i = 0; i < hashes.size(); ++i) {
    const Value* key = keys + i * params;
    const Table::Place place = t.place(key, hashes[i], base + made, params);
    const Value made_as = classes != nullptr ? classes[i] : first_id + made * id_step;
    results[i] = place.fresh ? made_as : place.result;
    write_row(to, key, results[i], params);  // overwritten by the next when it is not new
    to += place.fresh ? params + 1 : 0;
    made += static_cast<Row>(place.fresh);
    used += static_cast<size_t>(place.was_free);
  }
  t.extend(made, used);
  if (ids != nullptr) ids->add_many(made);
  state.changes += made;
  return made;
}

// Results of rows that join another, and of those.
struct Joined {
  std::vector<Value> mine, others;
};

template <class Count>
void replace_batch(EGraph::State& state, TableId table, std::span<const Row> rows, const Value* keys,
                   std::span<const uint32_t> hashes, const Value* results, Joined& joined, Count params) {
  Table& t = state.tables[table];
  prefetch(t, hashes);
  const Row clean = state.clean[table];
  Value* to = t.room(rows.size());
  const Row base = t.rows();
  Row made = 0;
  size_t used = 0;
  const size_t joined_before = joined.mine.size();
  for (size_t i = 0; i < rows.size(); ++i) {
    const Value* key = keys + i * params;
    Value* row = t.row(rows[i]);
    const bool tail = rows[i] >= clean;
    if (Table::same_args(row, key, params)) {
      row[params] = tail ? results[i] : kNone;  // kNone: its place is taken by the row that replaces it
      if (tail) continue;
    }
    const Table::Place place = t.place(key, hashes[i], tail ? rows[i] : base + made, params);
    used += static_cast<size_t>(place.was_free);
    if (place.fresh && tail) {
      write_row(row, key, results[i], params);
      continue;
    }
    row[params] = kNone;
    if (place.fresh) {
      write_row(to, key, results[i], params);
      to += params + 1;
      ++made;
    } else {
      joined.mine.push_back(results[i]);
      joined.others.push_back(place.result);
    }
  }
  t.extend(made, used);
  t.forget(made + static_cast<Row>(joined.mine.size() - joined_before));
}

// Calls work(begin, end) for batches of `count` keys.
template <class Work>
void in_batches(size_t count, const Work& work) {
  for (size_t begin = 0; begin < count; begin += kOrderedBatch) work(begin, std::min(count, begin + kOrderedBatch));
}

}  // namespace

size_t make_in_order(EGraph::State& state, TableId table, const Value* keys, std::span<const uint32_t> hashes,
                     const Value* classes, Value* results) {
  Table& t = state.tables[table];
  t.reserve(hashes.size());
  size_t made = 0;
  with_count(t.params, [&](auto params) {
    in_batches(hashes.size(), [&](size_t begin, size_t end) {
      made += make_batch(state, table, keys + begin * params, hashes.subspan(begin, end - begin),
                         classes != nullptr ? classes + begin : nullptr, results + begin, params);
    });
  });
  return made;
}

void replace_in_order(EGraph::State& state, TableId table, std::span<const Row> rows, const Value* keys,
                      const uint32_t* hashes, const Value* results) {
  Table& t = state.tables[table];
  t.reserve(rows.size());
  Joined joined;
  with_count(t.params, [&](auto params) {
    in_batches(rows.size(), [&](size_t begin, size_t end) {
      replace_batch(state, table, rows.subspan(begin, end - begin), keys + begin * params,
                    std::span(hashes + begin, end - begin), results + begin, joined, params);
    });
  });
  state.changes += rows.size();
  if (t.decl.constructor) unite_in_order(state, t.decl.result, joined.mine, joined.others);
}

size_t unite_in_order(EGraph::State& state, SortId sort, std::span<const Value> a, std::span<const Value> b) {
  UnionFind& ids = state.ids[sort];
  size_t united = 0;
  for (size_t i = 0; i < a.size(); ++i) united += static_cast<size_t>(ids.unite(a[i], b[i]));
  state.changes += united;
  return united;
}

}  // namespace lumen::egraph
