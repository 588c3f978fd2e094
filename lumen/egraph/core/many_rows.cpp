#include "lumen/egraph/core/many_rows.h"

#include <atomic>
#include <optional>

namespace lumen::egraph {

namespace {

// Slots are fetched so many keys before they are settled.
constexpr size_t kAhead = 32;

}  // namespace

// For Table::place_shared.
template <class Count>
struct MakeMany::Keys {
  const MakeMany& mine;
  Count params;

  const Value* args(Row candidate) const {
    const Entry& entry = mine.entry_.is_candidate(candidate) ? mine.entry_ : mine.before_->entry_;
    return entry.keys + size_t{entry.key_of(candidate)} * params;
  }
  bool yields(Row candidate, Row) const { return mine.entry_.is_candidate(candidate); }
  bool replaces(Row) const { return false; }
};

MakeMany::MakeMany(EGraph::State& state, TableId table, const Division& division, const Given& given, Value* results,
                   const MakeMany* before)
    : state_(state),
      side_(before == nullptr ? 0 : 1 - before->side_),
      entry_(state, table, division, given.keys, given.hashes, side_),
      before_(before != nullptr && before->entry_.id == table ? before : nullptr),
      ids_(entry_.table.decl.constructor && given.classes == nullptr ? &state.ids[entry_.table.decl.result] : nullptr),
      classes_(given.classes),
      results_(results) {
  if (ids_ == nullptr) return;
  id_step_ = 1;
  first_id_ = ids_->room(division.count, *state.workers);
}

void MakeMany::enter(size_t range) {
  const size_t begin = entry_.division.begin(range);
  // As many as there may be: which of them are used is known when all ranges are entered.
  if (ids_ != nullptr) {
    ids_->set_new(first_id_ + static_cast<Value>(begin), entry_.division.begin(range + 1) - begin);
  }
  with_count(entry_.table.params, [&](auto params) {
    const Keys<decltype(params)> keys{*this, params};
    const auto place = [&](size_t i, Table::SharedPlace& found) {
      entry_.table.place_shared(entry_.keys + i * params, entry_.hashes[i], entry_.candidate(i), keys, params, found);
      if (found.row >= Table::kCandidates && !entry_.is_candidate(found.row)) {
        found.data = before_->result_of(found.row);
        found.row = 0;  // as one that was there
      }
    };
    entry_.enter(range, place, [](size_t) { return true; });
  });
}

size_t MakeMany::number() {
  entry_.number();
  if (ids_ != nullptr) ids_->add_set(entry_.numbered());
  state_.changes += entry_.numbered();
  return entry_.numbered();
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
  Row number = entry_.number_of(begin);
  entry_.prefetch_slots(range);
  entry_.for_numbered(range, [&](size_t i) {
    const Value* key = entry_.keys + i * params;
    Value* to = entry_.rows() + size_t{number} * (params + 1);
    for (uint32_t p = 0; p < params; ++p) to[p] = key[p];
    to[params] = kFact;
    entry_.table.settle(entry_.found(i).data, entry_.base() + number++);
  });
}

template <class Count>
void MakeMany::finish(size_t range, Count params) {
  const size_t begin = entry_.division.begin(range), end = entry_.division.begin(range + 1);
  Row number = entry_.number_of(begin);
  const Row next = entry_.number_of(end);  // where another range begins
  for (size_t i = begin; i < end; ++i) {
    entry_.prefetch_slot(std::min(i + kAhead, end - 1));
    const EntryFound found = entry_.found(i);
    const bool fresh = found.row == entry_.candidate(i);
    Value result = classes_ != nullptr ? classes_[i] : first_id_ + number * id_step_;
    if (found.row < Table::kCandidates) result = static_cast<Value>(found.data);
    if (found.row >= Table::kCandidates && !fresh) result = result_of(found.row);
    results_[i] = result;
    // Every row is written where the next new one goes: no branch on whether a key is new, which none could foretell.
    if (number == next) continue;
    Value* to = entry_.rows() + size_t{number} * (params + 1);
    const Value* key = entry_.keys + i * params;
    for (uint32_t p = 0; p < params; ++p) to[p] = key[p];
    to[params] = result;
    entry_.table.settle(found.data, entry_.base() + number, fresh);
    number += static_cast<Row>(fresh);
  }
}

// The result of the row that a candidate makes.
Value MakeMany::result_of(Row candidate) const {
  uint32_t i = entry_.key_of(candidate);
  // A candidate that was displaced knows by which.
  while (entry_.found(i).row != entry_.candidate(i)) i = entry_.key_of(entry_.found(i).row);
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

namespace {

class ReplaceMany {
 public:
  ReplaceMany(EGraph::State& state, TableId table, const Division& division, const Replacement& replacement)
      : r_(replacement),
        entry_(state, table, division, replacement.keys, replacement.hashes, 0),
        table_(state.tables[table]),
        clean_(state.clean[table]) {
    if (table_.decl.constructor) unite_.emplace(state, table_.decl.result, division.ranges);
  }

  // A row that is entered moves to a fresh place (within the table when it is of the tail, else by a new row), or it
  // joins the row that is there and dies. One that has its arguments already stays when it is of the tail.
  void enter(size_t range) {
    with_count(table_.params, [&](auto params) {
      const auto place = [&](size_t i, Table::SharedPlace& found) {
        const Row r = r_.rows[i];
        const bool stays = same_args(i, params);
        if (stays && r >= clean_) return;
        const Keys<decltype(params)> keys{*this, stays ? r : kNone, params};
        table_.place_shared(r_.keys + i * params, r_.hashes[i], entry_.candidate(i), keys, params, found);
      };
      entry_.enter(range, place, [&](size_t i) { return r_.rows[i] < clean_; });
    });
  }
  void number() { entry_.number(); }
  void finish(size_t range) {
    Row number = entry_.number_of(entry_.division.begin(range));
    Row joined = 0;
    const size_t end = entry_.division.begin(range + 1);
    for (size_t i = entry_.division.begin(range); i < end; ++i) {
      entry_.prefetch_slot(std::min(i + kAhead, end - 1));
      const EntryFound& found = entry_.found(i);
      Value* row = table_.row(r_.rows[i]);
      if (found.row == entry_.candidate(i)) {
        move(i, found.data, number);
      } else if (found.row == kNone) {
        row[table_.params] = r_.results[i];
      } else {
        row[table_.params] = kNone;
        ++joined;
        const bool was_there = found.row < Table::kCandidates;
        const Value other = was_there ? static_cast<Value>(found.data) : r_.results[entry_.key_of(found.row)];
        if (unite_) unite_->unite(range, r_.results[i], other);
      }
    }
    if (unite_) unite_->end_range(range);
    joined_ += joined;
  }
  void end() {
    table_.forget(joined_ + static_cast<Row>(entry_.numbered()));
    if (unite_) unite_->end();
  }

 private:
  // For Table::place_shared. A row that has its arguments is replaced by a new row of its own, nobody else's.
  template <class Count>
  struct Keys {
    const ReplaceMany& all;
    Row own;  // or kNone
    Count params;

    const Value* args(Row candidate) const { return all.r_.keys + size_t{all.entry_.key_of(candidate)} * params; }
    bool yields(Row candidate, Row) const { return !all.same_args(all.entry_.key_of(candidate), params); }
    bool replaces(Row r) const { return r == own; }
  };
  template <class Count>
  bool same_args(size_t i, Count params) const {
    return Table::same_args(table_.row(r_.rows[i]), r_.keys + i * params, params);
  }
  // To the place in the table that it keeps, or to the new row of that number.
  void move(size_t i, uint64_t slot, Row& number) {
    Row r = r_.rows[i];
    Value* to = table_.row(r);
    if (r < clean_) {
      to[table_.params] = kNone;
      to = entry_.rows() + size_t{number} * table_.columns();
      r = entry_.base() + number++;
    }
    std::copy_n(r_.keys + i * table_.params, table_.params, to);
    to[table_.params] = r_.results[i];
    table_.settle(slot, r);
  }

  const Replacement& r_;
  Entry entry_;
  Table& table_;
  const Row clean_;
  std::optional<UniteMany> unite_;
  std::atomic<Row> joined_ = 0;
};

}  // namespace

void replace_many(EGraph::State& state, TableId table, const Replacement& replacement,
                  const std::function<void(size_t begin, size_t end)>& prepare) {
  const Division division(replacement.rows.size());
  state.tables[table].reserve(division.count, state.workers.get());
  ReplaceMany replace(state, table, division, replacement);
  state.workers->run(division.ranges, [&](size_t range) {
    prepare(division.begin(range), division.begin(range + 1));
    replace.enter(range);
  });
  replace.number();
  state.workers->run(division.ranges, [&](size_t range) { replace.finish(range); });
  state.changes += division.count;
  replace.end();
}

}  // namespace lumen::egraph
