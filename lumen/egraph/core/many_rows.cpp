#include "lumen/egraph/core/many_rows.h"

#include <algorithm>
#include <bit>
#include <vector>

#include "lumen/egraph/core/workers.h"

namespace lumen::egraph {

namespace {

// Below this many keys the threads cost more than they bring.
constexpr size_t kManyKeys = 2048;

// Finds or enters keys. Each thread owns a part of the slots and the keys that fall into it; what it writes lies
// together, or the threads would take cache lines from each other.
class Entry {
 public:
  struct Found {
    uint32_t key;
    Row row;         // that has the key's arguments; base() + i for the new row of key i
    Value result;    // of a row of the table
    bool fresh;      // the row is this key's
    uint64_t slot;
  };

  Entry(EGraph::State& state, TableId table, const Value* keys, std::span<const uint64_t> hashes)
      : t_(state.tables[table]),
        workers_(hashes.size() >= kManyKeys ? state.workers.get() : nullptr),
        keys_(keys),
        hashes_(hashes),
        // More than threads: one may be slower than another.
        parts_(workers_ == nullptr ? 1 : std::min<size_t>(2 * std::bit_ceil(workers_->threads()), Table::kParts)) {
    t_.reserve(hashes.size(), workers_);
    base_ = t_.rows();
  }

  // Enters the keys i for which wanted(i). then(found) says whether the key gets a new row at the end of the table. Both
  // are called by the thread of the part that the key is in, in ascending order.
  template <class Wanted, class Then>
  void enter(const Wanted& wanted, const Then& then) {
    const size_t words = (hashes_.size() + 63) / 64;
    run([&](size_t p) {
      Part& part = parts_[p];
      std::vector<uint32_t> mine(hashes_.size());
      size_t count = 0;
      for (uint32_t i = 0; i < hashes_.size(); ++i) {
        mine[count] = i;
        count += static_cast<size_t>(Table::part(hashes_[i], parts_.size()) == p);  // no branch: it is a coin toss
      }
      part.found.resize(count);
      part.numbered.assign(words, 0);
      size_t kept = 0;
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
        found = {i, place.row, place.row < base_ ? t_.result(place.row) : kNone, place.fresh, place.slot};
        if (then(found)) part.numbered[i / 64] |= uint64_t{1} << (i % 64);
      }
      part.found.resize(kept);
      part.used = used;
    });
    number(words);
  }

  // The keys for which `then` was true get rows at the end of the table, in their order: how many, where they start, and
  // which one of them key i has.
  size_t numbered() const { return numbered_; }
  Value* extend() {
    size_t used = 0;
    for (const Part& part : parts_) used += part.used;
    return t_.extend(numbered_, used);
  }
  Row base() const { return base_; }
  Row number_of(uint32_t i) const {
    const uint64_t before = bits_[i / 64] & ((uint64_t{1} << (i % 64)) - 1);
    return ranks_[i / 64] + static_cast<Row>(std::popcount(before));
  }

  // Calls each(found) for all keys that were entered, by the thread of their part.
  template <class Each>
  void for_each(const Each& each) {
    run([&](size_t p) {
      for (const Found& found : parts_[p].found) each(found);
    });
  }
  // The same by the caller.
  template <class Each>
  void in_turn(const Each& each) {
    for (const Part& part : parts_) {
      for (const Found& found : part.found) each(found);
    }
  }

 private:
  struct alignas(64) Part {
    std::vector<Found> found;
    std::vector<uint64_t> numbered;  // bits by key
    size_t used = 0;
  };
  void number(size_t words) {
    bits_.assign(words, 0);
    ranks_.resize(words);
    for (size_t w = 0; w < words; ++w) {
      for (const Part& part : parts_) bits_[w] |= part.numbered[w];
      ranks_[w] = static_cast<Row>(numbered_);
      numbered_ += static_cast<size_t>(std::popcount(bits_[w]));
    }
  }
  template <class Work>
  void run(const Work& work) {
    if (workers_ != nullptr) {
      workers_->run(parts_.size(), work);
    } else {
      work(0);
    }
  }

  Table& t_;
  Workers* workers_;
  const Value* keys_;
  std::span<const uint64_t> hashes_;
  std::vector<Part> parts_;
  Row base_ = 0;
  std::vector<uint64_t> bits_;  // by key
  std::vector<Row> ranks_;      // by word of them: how many come before
  size_t numbered_ = 0;
};

}  // namespace

size_t make_many(EGraph::State& state, TableId table, const Value* keys, std::span<const uint64_t> hashes,
                 Value* results) {
  Entry entry(state, table, keys, hashes);
  entry.enter([](size_t) { return true; }, [](const Entry::Found& found) { return found.fresh; });
  Table& t = state.tables[table];
  const Row base = entry.base();
  Value* rows = entry.extend();
  const Value first_id = t.decl.constructor ? state.ids[t.decl.result].add_many(entry.numbered()) : Value{0};
  entry.for_each([&](const Entry::Found& found) {
    if (found.row < base) {
      results[found.key] = found.result;
      return;
    }
    const Row number = entry.number_of(found.row - base);
    const Value result = t.decl.constructor ? first_id + number : Value{0};
    results[found.key] = result;
    if (!found.fresh) return;
    Value* row = rows + size_t{number} * t.columns();
    std::copy_n(keys + size_t{found.key} * t.params, t.params, row);
    row[t.params] = result;
    t.settle(found.slot, base + number);
  });
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
        if (!std::equal(row, row + params, keys + i * params)) return true;
        row[params] = rows[i] >= clean ? results[i] : kNone;  // kNone: its place is taken by the row that replaces it
        return rows[i] < clean;
      },
      [&](const Entry::Found& found) { return found.fresh && rows[found.key] < clean; });
  const Row base = entry.base();
  Value* fresh = entry.extend();
  entry.for_each([&](const Entry::Found& found) {
    Value* to = t.row(rows[found.key]);
    const bool in_place = rows[found.key] >= clean;
    if (!found.fresh || !in_place) to[params] = kNone;
    if (!found.fresh) return;
    const Row number = entry.number_of(found.key);
    if (!in_place) to = fresh + size_t{number} * t.columns();
    std::copy_n(keys + size_t{found.key} * params, params, to);
    to[params] = results[found.key];
    t.settle(found.slot, in_place ? rows[found.key] : base + number);
  });
  state.changes += rows.size();
  size_t joined = 0;
  entry.in_turn([&](const Entry::Found& found) {
    if (found.fresh) return;
    ++joined;
    if (!t.decl.constructor) return;
    state.unite(t.decl.result, results[found.key], found.row < base ? found.result : results[found.row - base], {});
  });
  t.forget(static_cast<Row>(joined + entry.numbered()));
}

}  // namespace lumen::egraph
