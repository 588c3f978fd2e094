// Rebuilding: after terms were made and classes merged, rows may hold ids that are no representatives any more. A row
// with such an id is replaced by its canonical form; when a row with the same arguments exists, the two results are
// merged (for terms that is congruence: equal arguments, equal classes), which may displace further ids. Example:
//
//   f(a) = x, f(b) = y, then a and b are merged (b is displaced):
//     round 1:  f(b) = y is not canonical; its form f(a) is taken by x: the row dies, x and y merge, y is displaced
//     round 2:  rows that hold y are brought to x; nothing new: done
//
// Rows that rules may have matched already are not changed but replaced by a new row, because "new since the last run"
// means "later in the table"; rows of the tail are changed in place.
#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "lumen/egraph/core/apply.h"
#include "lumen/egraph/core/many_rows.h"
#include "lumen/egraph/core/rows_in_order.h"
#include "lumen/egraph/core/stale_rows.h"
#include "lumen/egraph/core/state.h"

namespace lumen::egraph {

namespace {

// Below this many rows a scan is cheaper than looking anything up.
constexpr Row kScannedTable = 256;
// Rows canonicalised together.
constexpr size_t kRowsAtOnce = 16384;
// Rows that a thread scans in one go.
constexpr Row kScanPiece = 8192;
// Values that a thread looks up in one go.
constexpr size_t kLookupPiece = 2048;

// Calls work(piece, found) for all pieces and puts what they find together, in order.
template <class Work>
void collect(Workers* workers, size_t pieces, GrowArray<Row>& all, const Work& work) {
  if (workers == nullptr || pieces < 4) {
    for (size_t piece = 0; piece < pieces; ++piece) work(piece, all);
    return;
  }
  std::vector<GrowArray<Row>> found(pieces);
  workers->run(pieces, [&](size_t piece) { work(piece, found[piece]); });
  std::vector<size_t> starts;
  for (const GrowArray<Row>& rows : found) {
    starts.push_back(all.size());
    all.append(rows.size());
  }
  workers->run(pieces, [&](size_t i) { std::copy_n(found[i].data(), found[i].size(), all.data() + starts[i]); });
}

// Ascending, each once. Many of them are marked in a bit map of all rows.
void sort_rows(GrowArray<Row>& rows, Row end) {
  if (rows.size() < end / 64) {
    std::sort(rows.data(), rows.data() + rows.size());
    rows.resize(static_cast<size_t>(std::unique(rows.data(), rows.data() + rows.size()) - rows.data()));
    return;
  }
  std::vector<uint64_t> marks(end / 64 + 1, 0);
  for (size_t i = 0; i < rows.size(); ++i) marks[rows[i] / 64] |= uint64_t{1} << (rows[i] % 64);
  rows.resize(0);
  for (size_t word = 0; word < marks.size(); ++word) {
    for (uint64_t bits = marks[word]; bits != 0; bits &= bits - 1) {
      rows.push_back(static_cast<Row>(word * 64 + static_cast<size_t>(std::countr_zero(bits))));
    }
  }
}

bool dirty(const EGraph::State& s) {
  return std::any_of(s.ids.begin(), s.ids.end(), [](const UnionFind& ids) { return ids.displaced().size() > 0; });
}

bool has_new_containers(const EGraph::State& s) {
  for (SortId sort = 0; sort < s.sorts.size(); ++sort) {
    if (s.sorts[sort].kind == SortKind::container && s.holds_ids(sort) &&
        s.clean_containers[sort] < s.sorts[sort].pool->size()) {
      return true;
    }
  }
  return false;
}

}  // namespace

Expected<void> EGraph::State::rebuild() {
  flush();
  bool first = true;
  while (dirty(*this) || !pending.empty() || (first && has_new_containers(*this))) {
    first = false;
    rebuild_containers();
    std::vector<GrowArray<Value>> displaced(sorts.size());
    for (SortId sort = 0; sort < sorts.size(); ++sort) {
      displaced[sort] = ids[sort].take_displaced();
    }
    for (TableId t = 0; t < tables.size(); ++t) rebuild_table(t, displaced);
    flush();
  }
  for (TableId t = 0; t < tables.size(); ++t) clean[t] = tables[t].rows();
  if (failure.empty()) return {};
  return error(std::exchange(failure, {}));
}

void EGraph::State::flush() {
  // Deletions before insertions, as in egglog: a function entry that is deleted and set in one iteration ends as set.
  const std::vector<PendingChange> changes_now = std::exchange(pending, {});
  const std::vector<Value> values = std::exchange(pending_values, {});
  for (const PendingChange::Kind kind :
       {PendingChange::Kind::erase, PendingChange::Kind::set, PendingChange::Kind::subsume}) {
    for (const PendingChange& change : changes_now) {
      if (change.kind != kind) continue;
      const Table& table = tables[change.table];
      std::vector<Value> args(values.data() + change.start, values.data() + change.start + table.params);
      if (kind == PendingChange::Kind::erase) {
        erase_old_row(change.table, args.data());
        continue;
      }
      canonicalize(table.decl, args.data());
      if (kind == PendingChange::Kind::set) {
        put(change.table, args.data(), values[change.start + table.params], false);
        continue;
      }
      make(change.table, args.data(), Table::hash(args.data(), table.params));
      const Row r = table.find(args.data());
      if (table.subsumed(r)) continue;
      tables[change.table].set_subsumed(r);
      ++changes;
    }
  }
}

// The row as it was matched: its arguments may have been merged since, and a row made since then stays.
void EGraph::State::erase_old_row(TableId table, const Value* args) {
  const Row r = tables[table].find(args);
  if (r == kNone || r >= clean[table]) return;
  tables[table].kill(r);
  ++changes;
}

void EGraph::State::put(TableId table, const Value* args, Value value, bool subsumed) {
  Table& t = tables[table];
  value = find(t.decl.result, value);
  const uint32_t h = Table::hash(args, t.params);
  Row r = t.find(args, h);
  if (r == kNone) {
    r = t.append(args, value, h);
    ++changes;
  } else {
    merge_into(table, r, value);
    if (subsumed) r = t.find(args, h);
  }
  if (subsumed) t.set_subsumed(r);
}

void EGraph::State::merge_into(TableId table, Row r, Value value) {
  const TableDecl& decl = tables[table].decl;
  const Value old = find(decl.result, tables[table].result(r));
  if (old == value && decl.merge != Merge::lambda) return;
  switch (decl.merge) {
    case Merge::unite:
      unite(decl.result, old, value, {});
      return;
    case Merge::old:
      return;
    case Merge::fresh:
      change_result(table, r, value);
      return;
    case Merge::error:
      if (failure.empty()) failure = "`" + decl.name + "` was given two values for the same arguments (:no-merge)";
      return;
    case Merge::lambda:
      break;
  }
  const std::optional<Value> merged = run_merge(table, old, value);
  if (merged.has_value() && *merged != old) change_result(table, r, *merged);
}

void EGraph::State::change_result(TableId table, Row r, Value value) {
  Table& t = tables[table];
  ++changes;
  if (r >= clean[table]) {
    t.row(r)[t.params] = value;
    return;
  }
  const std::vector<Value> args(t.row(r), t.row(r) + t.params);
  append_in_place_of(table, r, args.data(), value, Table::hash(args.data(), t.params));
}

// Kills row `r` and appends its new form.
void EGraph::State::append_in_place_of(TableId table, Row r, const Value* args, Value value, uint32_t h) {
  Table& t = tables[table];
  const bool subsumed = t.subsumed(r);
  t.kill(r);
  const Row fresh = t.append(args, value, h);
  if (subsumed) t.set_subsumed(fresh);
  if (trace != nullptr) trace->set_row_id(table, fresh, trace->row_id(table, r));
}

std::optional<Value> EGraph::State::run_merge(TableId table, Value old_value, Value new_value) {
  const Lambda& lambda = tables[table].decl.merge_lambda;
  Head head(2, lambda.variables, lambda.actions);
  const uint32_t result = head.register_of(lambda.result);
  head.inputs = {0, 1};
  Applier applier(*this, head, kNone, 1);
  const std::array<Value, 2> given{old_value, new_value};
  const std::span<const Value> match(given);
  if (!applier.apply(std::span(&match, 1), 1)) return std::nullopt;
  return find(tables[table].decl.result, applier.value(result));
}

void EGraph::State::rebuild_containers() {
  std::vector<Value> sequence;
  for (SortId id = 0; id < sorts.size(); ++id) {
    const Sort& sort = sorts[id];
    if (sort.kind != SortKind::container || !sort.holds_ids) continue;
    ContainerPool& pool = sort.sequences();
    const bool all = std::any_of(sort.elements.begin(), sort.elements.end(),
                                 [&](SortId e) { return ids[e].displaced().size() > 0; }) ||
                     sort.container == ContainerKind::function;
    const size_t end = pool.size();
    ids[id].grow(end);
    for (size_t v = all ? 0 : clean_containers[id]; v < end; ++v) {
      const Value value = static_cast<Value>(v);
      if (!ids[id].is_root(value)) continue;
      const std::span<const Value> elements = pool.at(value);
      sequence.assign(elements.begin(), elements.end());
      visit_elements(sort, std::span<Value>(sequence), [&](SortId e, Value& element) { element = find(e, element); });
      if (std::equal(sequence.begin(), sequence.end(), elements.begin(), elements.end())) continue;
      normalize_sequence(sort.container, sequence);
      const Value canonical = pool.intern(sequence);
      ids[id].grow(pool.size());
      ids[id].redirect(value, canonical);
    }
    clean_containers[id] = pool.size();
  }
}

void EGraph::State::rebuild_table(TableId table, std::span<const GrowArray<Value>> displaced) {
  const TableDecl& decl = tables[table].decl;
  std::vector<IdColumn> columns;
  size_t lookups = 0;
  for (uint32_t c = 0; c <= decl.params.size(); ++c) {
    const SortId sort = decl.column_sort(c);
    if (displaced[sort].size() == 0) continue;
    columns.push_back({c, &ids[sort]});
    lookups += displaced[sort].size();
  }
  if (columns.empty()) return;
  GrowArray<Row>& affected = scratch_rows;
  affected.resize(0);
  const Row end = tables[table].rows();
  Row scan_from = 0;
  if (end > kScannedTable && lookups < end / 4) {
    scan_from = clean[table];
    for (const auto& [column, sort_ids] : columns) {
      const Index& index = tables[table].catch_up(column, scan_from, sort_ids->size());
      const GrowArray<Value>& values = displaced[decl.column_sort(column)];
      const size_t pieces = (values.size() + kLookupPiece - 1) / kLookupPiece;
      collect(workers.get(), pieces, affected, [&](size_t piece, GrowArray<Row>& found) {
        for (size_t i = piece * kLookupPiece; i < std::min(values.size(), (piece + 1) * kLookupPiece); ++i) {
          for (const Row r : index.find(values[i])) {
            if (!tables[table].dead(r)) found.push_back(r);
          }
        }
      });
    }
    sort_rows(affected, scan_from);
  }
  collect(workers.get(), (end - scan_from + kScanPiece - 1) / kScanPiece, affected,
          [&](size_t piece, GrowArray<Row>& found) {
            const Row from = scan_from + static_cast<Row>(piece) * kScanPiece;
            find_stale_rows(tables[table], columns, from, std::min(end, from + kScanPiece), found);
          });
  for (size_t i = 0; i < affected.size(); i += kRowsAtOnce) {
    rebuild_rows(table, {affected.data() + i, std::min(kRowsAtOnce, affected.size() - i)});
  }
}

void EGraph::State::rebuild_rows(TableId table, std::span<const Row> rows) {
  const Table& t = tables[table];
  const uint32_t params = t.params;
  scratch_keys.resize(rows.size() * params);
  scratch_results.resize(rows.size());
  scratch_hashes.resize(rows.size());
  const auto prepare = [&](size_t begin, size_t end) {
    with_count(params, [&](auto count) {
      for (size_t i = begin; i < end; ++i) {
        const Value* row = t.row(rows[i]);
        Value* key = scratch_keys.data() + i * count;
        for (uint32_t p = 0; p < count; ++p) key[p] = root_of(t.decl.params[p], row[p]);
        scratch_results[i] = root_of(t.decl.result, row[count]);
        scratch_hashes[i] = Table::hash(key, count);
      }
    });
  };
  const bool at_once = trace == nullptr && !t.any_subsumed() && (t.decl.constructor || t.decl.relation);
  const Replacement replacement{rows, scratch_keys.data(), scratch_hashes.data(), scratch_results.data()};
  if (at_once && workers != nullptr && rows.size() >= kManyKeys) {
    return replace_many(*this, table, replacement, prepare);
  }
  prepare(0, rows.size());
  if (at_once) {
    return replace_in_order(*this, table, rows, scratch_keys.data(), scratch_hashes.data(), scratch_results.data());
  }
  for (size_t i = 0; i < rows.size(); ++i) {
    // Dead: replaced when an earlier row was.
    if (!t.dead(rows[i])) replace_row(table, rows[i], scratch_keys.data() + i * params, scratch_hashes[i]);
  }
}

void EGraph::State::replace_row(TableId table, Row r, const Value* args, uint32_t h) {
  Table& t = tables[table];
  const Value result = find(t.decl.result, t.result(r));
  if (std::equal(args, args + t.params, t.row(r))) {
    if (result != t.result(r)) change_result(table, r, result);
    return;
  }
  ++changes;
  if (const Row other = t.find(args, h); other != kNone) {
    const bool subsumed = t.subsumed(r);
    t.kill(r);
    if (trace != nullptr && t.decl.constructor) {
      const Reason congruence{Reason::Kind::congruence, kNone, kNone, table};
      unite(t.decl.result, trace->row_id(table, r), trace->row_id(table, other), congruence);
    }
    put(table, args, result, subsumed);
  } else if (r >= clean[table]) {
    std::copy_n(args, t.params, t.row(r));
    t.row(r)[t.params] = result;
    t.reenter(r);
  } else {
    append_in_place_of(table, r, args, result, h);
  }
}

}  // namespace lumen::egraph
