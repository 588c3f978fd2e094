// Entering many keys into a table by several threads. Keys of a block fall into ranges by their position and into parts
// by their hash, some of both for each thread. It goes in stages, and all threads end one before the next begins:
//
//   keys     range by range, by the caller
//   enter    part by part: a thread enters the keys that fall into its part of the table's slots
//   finish   range by range: new rows are numbered in the order of keys and written (many_rows.h)
//
// What follows for a range, such as the keys of the next step, may be done by the same thread in the same stage.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "lumen/egraph/core/state.h"
#include "lumen/egraph/core/workers.h"

namespace lumen::egraph {

// How a block of `count` keys is divided.
struct Division {
  Division(const Workers& workers, size_t keys);

  size_t count;
  size_t parts;   // a power of two
  size_t ranges;  // a multiple of the parts
  size_t begin(size_t range) const { return range * count / ranges; }

  // A stage: calls in_range(range) for all ranges and in_part(part) for all parts.
  template <class InRange, class InPart>
  void run(Workers& workers, const InRange& in_range, const InPart& in_part) const {
    const size_t each = ranges / parts + 1;  // some ranges, then a part
    workers.run(parts * each, [&](size_t piece) {
      const size_t part = piece / each;
      if (piece % each == each - 1) return in_part(part);
      in_range(piece - part);
    });
  }
};

class Entry {
 public:
  using Found = EntryPart::Found;
  // The arguments of key i are at keys[i * params]; all of them and their hashes are there when enter() is called.
  Entry(EGraph::State& state, TableId table, const Division& division, const Value* keys, const uint32_t* hashes);

  // Enters the keys i for which wanted(i). numbered(i) says whether one in a fresh place gets a new row at the end of
  // the table. Both are called by the thread of the part that the key is in, in ascending order; first begin(part).
  template <class Begin, class Wanted, class Numbered>
  void enter(const Begin& begin, const Wanted& wanted, const Numbered& numbered) {
    with_count(table.params, [&](auto params) {
      workers.run(parts_.size(), [&](size_t p) {
        begin(p);
        enter_part(p, wanted, numbered, params);
      });
    });
    number();
  }
  // Calls each(i, found) for the keys of a range, in order.
  template <class Each>
  void for_range(size_t range, const Each& each) const {
    std::array<const Found*, Table::kParts> next{};
    for (size_t p = 0; p < parts_.size(); ++p) next[p] = parts_[p].found.data() + parts_[p].starts[range];
    const uint32_t end = static_cast<uint32_t>(division.begin(range + 1));
    for (uint32_t i = static_cast<uint32_t>(division.begin(range)); i < end; ++i) {
      each(i, *next[Table::part(hashes[i], parts_.size())]++);
    }
  }
  // Calls each(i, slot) for the keys of a part that are in a fresh place.
  template <class Each>
  void for_fresh(size_t part, const Each& each) const {
    const GrowArray<EntryPart::Fresh>& all = parts_[part].fresh;
    for (size_t k = 0; k < all.size(); ++k) each(all[k].key, all[k].slot);
  }

  // Rows from here on are being made: base() + i by key i.
  Row base() const { return base_; }
  bool fresh(uint32_t i, const Found& found) const { return found.row == base_ + i; }
  // The keys with a new row: how many there are, and how many come before key i.
  size_t numbered() const { return numbered_; }
  Row number_of(size_t i) const;
  // The new rows, not written yet.
  Value* extend();

  const Division division;
  Table& table;
  Workers& workers;
  const Value* const keys;
  const uint32_t* const hashes;

 private:
  // Fetched so many keys ahead.
  static constexpr size_t kAhead = 24;

  template <class Count, class Wanted, class Numbered>
  void enter_part(size_t p, const Wanted& wanted, const Numbered& numbered, Count params) {
    EntryPart& part = parts_[p];
    const size_t count = list_keys(p);
    const uint32_t* mine = part.keys.data();
    part.found.resize(count);
    part.fresh.resize(count + 1);
    part.numbered.assign((division.count + 63) / 64, 0);
    size_t fresh_count = 0;
    size_t used = 0;
    for (size_t k = 0; k < count; ++k) {
      if (k + kAhead < count) table.prefetch(hashes[mine[k + kAhead]]);
      if (k + kAhead / 2 < count) table.prefetch_row(hashes[mine[k + kAhead / 2]], base_);
      const uint32_t i = mine[k];
      if (!wanted(i)) {
        part.found[k] = {kNone, 0};
        continue;
      }
      const Table::Place place = table.place(keys + size_t{i} * params, hashes[i], base_ + i, base_, keys, params);
      part.found[k] = {place.row, static_cast<Value>(place.data)};
      part.fresh[fresh_count] = {place.data, i};
      fresh_count += static_cast<size_t>(place.fresh);
      used += static_cast<size_t>(place.was_free);
      part.numbered[i / 64] |= uint64_t{place.fresh && numbered(i)} << (i % 64);
    }
    part.fresh.resize(fresh_count);
    part.used = used;
  }
  size_t list_keys(size_t p);
  void number();

  std::span<EntryPart> parts_;
  Row base_ = 0;
  std::vector<uint64_t> bits_;  // by key
  std::vector<Row> ranks_;      // by word of them: how many come before
  size_t numbered_ = 0;
};

}  // namespace lumen::egraph
