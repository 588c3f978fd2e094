#include "lumen/egraph/core/many_rows.h"

#include <algorithm>
#include <bit>
#include <vector>

#include "lumen/egraph/core/workers.h"

namespace lumen::egraph {

namespace {

// Below this many keys the threads cost more than they bring.
constexpr size_t kManyKeys = 2048;

// std::popcount is a call into a library where the instruction is not assumed.
uint32_t count_bits(uint64_t bits) {
  bits -= bits >> 1 & 0x5555555555555555u;
  bits = (bits & 0x3333333333333333u) + (bits >> 2 & 0x3333333333333333u);
  bits = (bits + (bits >> 4)) & 0x0f0f0f0f0f0f0f0fu;
  return static_cast<uint32_t>(bits * 0x0101010101010101u >> 56);
}

// Finds or enters keys. Each thread owns a part of the slots and the keys that fall into it; what it writes lies
// together, or the threads would take cache lines from each other.
class Entry {
 public:
  using Found = EntryPart::Found;

  Entry(EGraph::State& state, TableId table, const Value* keys, std::span<const uint64_t> hashes)
      : t_(state.tables[table]),
        workers_(hashes.size() >= kManyKeys ? state.workers.get() : nullptr),
        keys_(keys),
        hashes_(hashes) {
    // More than threads: one may be slower than another.
    const size_t parts =
        workers_ == nullptr ? 1 : std::min<size_t>(2 * std::bit_ceil(workers_->threads()), Table::kParts);
    if (state.scratch_parts.size() < parts) state.scratch_parts.resize(parts);
    parts_ = std::span(state.scratch_parts).first(parts);
    t_.reserve(hashes.size(), workers_);
    base_ = t_.rows();
  }

  Row base() const { return base_; }
  bool fresh(const Found& found) const { return found.row == base_ + found.key; }

  // Enters the keys i for which wanted(i). then(found) says whether the key gets a new row at the end of the table.
  // Both are called by the thread of the part that the key is in, in ascending order.
  template <class Wanted, class Then>
  void enter(const Wanted& wanted, const Then& then) {
    const size_t words = (hashes_.size() + 63) / 64;
    run(parts_.size(), [&](size_t p) {
      EntryPart& part = parts_[p];
      GrowArray<uint32_t>& mine = part.keys;
      mine.resize(hashes_.size());
      size_t count = 0;
      for (uint32_t i = 0; i < hashes_.size(); ++i) {
        mine[count] = i;
        count += static_cast<size_t>(Table::part(hashes_[i], parts_.size()) == p);  // no branch: it is a coin toss
      }
      part.found.resize(count);
      part.fresh.resize(count + 1);
      part.numbered.assign(words, 0);
      size_t kept = 0;
      size_t fresh = 0;
      size_t used = 0;
      constexpr size_t kAhead = 24;
      for (size_t k = 0; k < count; ++k) {
        if (k + kAhead < count) t_.prefetch(hashes_[mine[k + kAhead]]);
        if (k + kAhead / 2 < count) t_.prefetch_row(hashes_[mine[k + kAhead / 2]], base_);
        const uint32_t i = mine[k];
        if (!wanted(i)) continue;
        const Table::Place place = t_.place(keys_ + size_t{i} * t_.params, hashes_[i], base_ + i, base_, keys_);
        used += static_cast<size_t>(place.was_free);
        Found& found = part.found[kept++];
        found = {i, place.row, place.data};
        part.fresh[fresh] = {place.data, i};
        fresh += static_cast<size_t>(place.fresh);
        part.numbered[i / 64] |= uint64_t{then(found)} << (i % 64);
      }
      part.found.resize(kept);
      part.fresh.resize(fresh);
      part.used = used;
    });
    number(words);
    size_t entered = 0;
    for (const EntryPart& part : parts_) entered += part.found.size();
    all_ = entered == hashes_.size();
  }

  // The keys for which `then` was true get rows at the end of the table in their order: how many, where they start, and
  // which one of them key i has.
  size_t numbered() const { return numbered_; }
  Value* extend() {
    size_t used = 0;
    for (const EntryPart& part : parts_) used += part.used;
    return t_.extend(numbered_, used);
  }
  Row number_of(uint32_t i) const {
    const uint64_t before = bits_[i / 64] & ((uint64_t{1} << (i % 64)) - 1);
    return ranks_[i / 64] + count_bits(before);
  }

  // The keys of a range that were entered, in order.
  class InOrder {
   public:
    InOrder(const Entry& entry, uint32_t begin, uint32_t end) : entry_(entry), begin_(begin), end_(end) {
      for (const EntryPart& part : entry.parts_) {
        const Found* all = part.found.data();
        ends_.push_back(all + part.found.size());
        next_.push_back(std::lower_bound(all, ends_.back(), begin,
                                         [](const Found& found, uint32_t key) { return found.key < key; }));
      }
    }
    size_t size() const { return end_ - begin_; }  // at most
    template <class Each>
    void for_each(const Each& each) {
      for (uint32_t i = begin_; i < end_; ++i) {
        const size_t part = Table::part(entry_.hashes_[i], next_.size());
        const Found* found = next_[part];
        if (!entry_.all_ && (found == ends_[part] || found->key != i)) continue;
        ++next_[part];
        each(*found);
      }
    }

   private:
    const Entry& entry_;
    uint32_t begin_, end_;
    std::vector<const Found*> next_, ends_;  // by part
  };

  // Calls piece(InOrder, n, scratch) for ranges of the keys, n being the number of its first new row; and
  // settle(fresh, n) for the keys in a fresh place, by the thread of the part. Returns when all threads are done.
  template <class Piece, class Settle>
  void finish(const Piece& piece, const Settle& settle) {
    const size_t pieces = parts_.size();
    const size_t keys = (hashes_.size() + pieces - 1) / pieces;
    run(2 * pieces, [&](size_t p) {
      if (p % 2 == 0) {
        const uint32_t begin = static_cast<uint32_t>(std::min(hashes_.size(), p / 2 * keys));
        const uint32_t end = static_cast<uint32_t>(std::min(hashes_.size(), (p / 2 + 1) * keys));
        if (begin == end) return;
        InOrder some(*this, begin, end);
        piece(some, number_of(begin), parts_[p / 2].rows);
        return;
      }
      const GrowArray<EntryPart::Fresh>& all = parts_[p / 2].fresh;
      for (size_t k = 0; k < all.size(); ++k) settle(all[k], number_of(all[k].key));
    });
  }
  // Calls each(found) for all keys that were entered, part by part.
  template <class Each>
  void for_each(const Each& each) const {
    for (const EntryPart& part : parts_) {
      for (size_t k = 0; k < part.found.size(); ++k) each(part.found[k]);
    }
  }

 private:
  void number(size_t words) {
    bits_.assign(words, 0);
    ranks_.resize(words);
    for (size_t w = 0; w < words; ++w) {
      for (const EntryPart& part : parts_) bits_[w] |= part.numbered[w];
      ranks_[w] = static_cast<Row>(numbered_);
      numbered_ += count_bits(bits_[w]);
    }
  }
  template <class Work>
  void run(size_t pieces, const Work& work) {
    if (workers_ != nullptr) {
      workers_->run(pieces, work);
    } else {
      for (size_t i = 0; i < pieces; ++i) work(i);
    }
  }

  Table& t_;
  Workers* workers_;
  const Value* keys_;
  std::span<const uint64_t> hashes_;
  std::span<EntryPart> parts_;
  Row base_ = 0;
  std::vector<uint64_t> bits_;  // by key
  std::vector<Row> ranks_;      // by word of them: how many come before
  size_t numbered_ = 0;
  bool all_ = false;  // keys were entered
};

}  // namespace

size_t make_many(EGraph::State& state, TableId table, const Value* keys, std::span<const uint64_t> hashes,
                 Value* results) {
  Entry entry(state, table, keys, hashes);
  entry.enter([](size_t) { return true; }, [&](const Entry::Found& found) { return entry.fresh(found); });
  Table& t = state.tables[table];
  const Row base = entry.base();
  Value* rows = entry.extend();
  const Value first_id = t.decl.constructor ? state.ids[t.decl.result].add_many(entry.numbered()) : Value{0};
  const auto result_of = [&](Row number) { return t.decl.constructor ? first_id + number : Value{0}; };
  const auto finish_piece = [&](Entry::InOrder& some, Row first, GrowArray<Value>& fresh_rows) {
    // Every row is written where the next new one goes: no branch on whether a key is new, which none could foretell.
    fresh_rows.resize((some.size() + 1) * t.columns());
    Value* to = fresh_rows.data();
    Row number = first;
    some.for_each([&](const Entry::Found& found) {
      const bool fresh = entry.fresh(found);
      Value result = found.row < base ? static_cast<Value>(found.data) : result_of(number);
      if (found.row >= base && !fresh) result = result_of(entry.number_of(found.row - base));
      results[found.key] = result;
      const Value* key = keys + size_t{found.key} * t.params;
      for (uint32_t p = 0; p < t.params; ++p) to[p] = key[p];
      to[t.params] = result;
      to += fresh ? t.columns() : 0;
      number += static_cast<Row>(fresh);
    });
    std::copy(fresh_rows.data(), to, rows + size_t{first} * t.columns());
  };
  entry.finish(finish_piece, [&](const EntryPart::Fresh& fresh, Row number) { t.settle(fresh.slot, base + number); });
  state.changes += entry.numbered();
  return entry.numbered();
}

void replace_many(EGraph::State& state, TableId table, std::span<const Row> rows, const Value* keys,
                  std::span<const uint64_t> hashes, const Value* results) {
  Table& t = state.tables[table];
  const uint32_t params = t.params;
  const Row clean = state.clean[table];
  Entry entry(state, table, keys, hashes);
  // A row that is entered moves to a fresh place (within the table when it is of the tail, else by a new row), or it
  // joins the row that is there and dies.
  entry.enter(
      [&](size_t i) {
        Value* row = t.row(rows[i]);
        if (!t.same_args(row, keys + i * params)) return true;
        row[params] = rows[i] >= clean ? results[i] : kNone;  // kNone: its place is taken by the row that replaces it
        return rows[i] < clean;
      },
      [&](const Entry::Found& found) { return entry.fresh(found) && rows[found.key] < clean; });
  const Row base = entry.base();
  Value* appended = entry.extend();
  entry.finish(
      [&](Entry::InOrder& some, Row number, GrowArray<Value>&) {
        some.for_each([&](const Entry::Found& found) {
          Value* to = t.row(rows[found.key]);
          if (!entry.fresh(found) || rows[found.key] < clean) to[params] = kNone;
          if (!entry.fresh(found)) return;
          if (rows[found.key] < clean) to = appended + size_t{number++} * t.columns();
          std::copy_n(keys + size_t{found.key} * params, params, to);
          to[params] = results[found.key];
        });
      },
      [&](const EntryPart::Fresh& fresh, Row number) {
        t.settle(fresh.slot, rows[fresh.key] >= clean ? rows[fresh.key] : base + number);
      });
  state.changes += rows.size();
  std::vector<Value> mine, others;  // results of rows that join another, and of those
  entry.for_each([&](const Entry::Found& found) {
    if (entry.fresh(found)) return;
    mine.push_back(results[found.key]);
    others.push_back(found.row < base ? static_cast<Value>(found.data) : results[found.row - base]);
  });
  t.forget(static_cast<Row>(mine.size() + entry.numbered()));
  if (t.decl.constructor) unite_many(state, t.decl.result, mine, others);
}

size_t unite_many(EGraph::State& state, SortId sort, std::span<const Value> a, std::span<const Value> b) {
  UnionFind& ids = state.ids[sort];
  size_t united = 0;
  if (state.workers == nullptr || a.size() < kManyKeys) {
    for (size_t i = 0; i < a.size(); ++i) united += static_cast<size_t>(ids.unite(a[i], b[i]));
  } else {
    constexpr size_t kPiece = 512;
    std::vector<std::vector<Value>> logs((a.size() + kPiece - 1) / kPiece);
    state.workers->run(logs.size(), [&](size_t piece) {
      std::vector<Value> log;
      for (size_t i = piece * kPiece; i < std::min(a.size(), (piece + 1) * kPiece); ++i)
        ids.unite_shared(a[i], b[i], log);
      logs[piece] = std::move(log);
    });
    for (const std::vector<Value>& log : logs) {
      ids.add_displaced(log);
      united += log.size();
    }
  }
  state.changes += united;
  return united;
}

}  // namespace lumen::egraph
