#include "lumen/egraph/core/many_rows.h"

#include <atomic>
#include <optional>

namespace lumen::egraph {

MakeMany::MakeMany(EGraph::State& state, TableId table, const Division& division, const Given& given, Value* results)
    : entry_(state, table, division, given.keys, given.hashes),
      classes_(given.classes),
      rows_(nullptr),
      results_(results) {
  const TableDecl& decl = entry_.table.decl;
  UnionFind* ids = decl.constructor && classes_ == nullptr ? &state.ids[decl.result] : nullptr;
  if (ids != nullptr) {
    id_step_ = 1;
    first_id_ = ids->room(division.count, *state.workers);
  }
  // As many as there may be: which of them are used is known when all parts are entered.
  const auto set_ids = [&](size_t part) {
    const size_t begin = part * division.count / division.parts;
    const size_t end = (part + 1) * division.count / division.parts;
    if (ids != nullptr) ids->set_new(first_id_ + static_cast<Value>(begin), end - begin);
  };
  const auto all = [](size_t) { return true; };
  entry_.enter(set_ids, all, all, decl.constructor);
  rows_ = entry_.extend();
  if (ids != nullptr) ids->add_set(entry_.numbered());
  state.changes += entry_.numbered();
}

void MakeMany::finish(size_t range) {
  with_count(entry_.table.params, [&](auto params) {
    if (entry_.table.decl.constructor) {
      finish(range, params);
    } else {
      finish_facts(range, params);
    }
  });
}

// Results are all the same: only what is new has to be looked at.
template <class Count>
void MakeMany::finish_facts(size_t range, Count params) {
  constexpr Value kFact = 0;  // ()
  const size_t begin = entry_.division.begin(range);
  std::fill(results_ + begin, results_ + entry_.division.begin(range + 1), kFact);
  Value* to = rows_ + size_t{entry_.number_of(begin)} * (params + 1);
  entry_.for_numbered(range, [&](size_t i) {
    const Value* key = entry_.keys + i * params;
    for (uint32_t p = 0; p < params; ++p) to[p] = key[p];
    to[params] = kFact;
    to += params + 1;
  });
}

template <class Count>
void MakeMany::finish(size_t range, Count params) {
  const Row base = entry_.base();
  Row number = entry_.number_of(entry_.division.begin(range));
  const Row end = entry_.number_of(entry_.division.begin(range + 1));
  entry_.for_range(range, [&](uint32_t i, const Entry::Found& found) {
    const bool fresh = entry_.fresh(i, found);
    Value result = classes_ != nullptr ? classes_[i] : first_id_ + number * id_step_;
    if (found.row < base) result = found.result;
    if (found.row >= base && !fresh) result = of_new(found.row - base);
    results_[i] = result;
    // Every row is written where the next new one goes: no branch on whether a key is new, which none could foretell.
    if (number == end) return;  // where another range begins
    Value* to = rows_ + size_t{number} * (params + 1);
    const Value* key = entry_.keys + size_t{i} * params;
    for (uint32_t p = 0; p < params; ++p) to[p] = key[p];
    to[params] = result;
    number += static_cast<Row>(fresh);
  });
}

// The result of the row that key `i` makes.
Value MakeMany::of_new(uint32_t i) const {
  return classes_ != nullptr ? classes_[i] : first_id_ + entry_.number_of(i) * id_step_;
}

UniteMany::UniteMany(EGraph::State& state, SortId sort, size_t ranges) : state_(state), ids_(state.ids[sort]) {
  if (state.scratch_logs.size() < ranges) state.scratch_logs.resize(ranges);
  logs_ = std::span(state.scratch_logs).first(ranges);
  for (GrowArray<Value>& log : logs_) log.resize(0);
}

size_t UniteMany::end() {
  size_t united = 0;
  for (const GrowArray<Value>& log : logs_) {
    ids_.add_displaced(log);
    united += log.size();
  }
  state_.changes += united;
  return united;
}

void replace_many(EGraph::State& state, TableId table, const Division& division, std::span<const Row> rows,
                  const Value* keys, const uint32_t* hashes, const Value* results) {
  Table& t = state.tables[table];
  const uint32_t params = t.params;
  const Row clean = state.clean[table];
  Entry entry(state, table, division, keys, hashes);
  // A row that is entered moves to a fresh place (within the table when it is of the tail, else by a new row), or it
  // joins the row that is there and dies.
  entry.enter([](size_t) {},
              [&](size_t i) {
                Value* row = t.row(rows[i]);
                if (!Table::same_args(row, keys + i * params, params)) return true;
                row[params] =
                    rows[i] >= clean ? results[i] : kNone;  // kNone: its place is taken by the row that replaces it
                return rows[i] < clean;
              },
              [&](size_t i) { return rows[i] < clean; });
  const Row base = entry.base();
  Value* appended = entry.extend();
  std::optional<UniteMany> unite;
  if (t.decl.constructor) unite.emplace(state, t.decl.result, division.ranges);
  std::atomic<Row> joined = 0;
  const auto finish = [&](size_t range) {
    Row number = entry.number_of(division.begin(range));
    Row range_joined = 0;
    entry.for_range(range, [&](uint32_t i, const Entry::Found& found) {
      if (found.row == kNone) return;
      Value* to = t.row(rows[i]);
      if (!entry.fresh(i, found)) {
        to[params] = kNone;
        ++range_joined;
        if (unite) unite->unite(range, results[i], found.row < base ? found.result : results[found.row - base]);
        return;
      }
      if (rows[i] < clean) {
        to[params] = kNone;
        to = appended + size_t{number++} * t.columns();
      }
      std::copy_n(keys + size_t{i} * params, params, to);
      to[params] = results[i];
    });
    if (unite) unite->end_range(range);
    joined += range_joined;
  };
  division.run(*state.workers, finish, [&](size_t part) { entry.settle(part, rows, clean); });
  state.changes += rows.size();
  t.forget(joined + static_cast<Row>(entry.numbered()));
  if (unite) unite->end();
}

}  // namespace lumen::egraph
