// Entering many keys into a table by several threads. Keys of a block fall into ranges by their position and into parts
// by their hash, some of both for each thread. It goes in stages, and all threads end one before the next begins:
//
//   keys     range by range, by the caller, who lists them by part (Division::list)
//   enter    part by part: a thread enters the keys that fall into its part of the table's slots
//   finish   range by range: new rows are numbered in the order of keys and written (many_rows.h)
//
// What follows for a range, such as the keys of the next step, may be done by the same thread in the same stage.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "lumen/egraph/core/state.h"
#include "lumen/egraph/core/workers.h"

namespace lumen::egraph {

// How a block of `count` keys is divided.
struct Division {
  Division(EGraph::State& state, size_t keys);

  size_t count;
  size_t parts;                // a power of two
  size_t ranges;               // a multiple of the parts
  std::span<EntryPart> lists;  // by part
  size_t begin(size_t range) const { return range * count / ranges; }

  // Which part each key of a range is in, when its hashes are there.
  void list(size_t range, const uint32_t* hashes) const;

  // A stage: calls in_range(range) for all ranges and in_part(part) for all parts.
  template <class InRange, class InPart>
  void run(Workers& workers, const InRange& in_range, const InPart& in_part) const {
    const size_t each = ranges / parts + 1;  // a part, then some ranges
    workers.run(parts * each, [&](size_t piece) {
      const size_t part = piece / each;
      if (piece % each == 0) return in_part(part);
      in_range(piece - part - 1);
    });
  }
};

class Entry {
 public:
  using Found = EntryPart::Found;
  // The arguments of key i are at keys[i * params]; all of them and their hashes are there when enter() is called, and
  // the division has listed them.
  Entry(EGraph::State& state, TableId table, const Division& division, const Value* keys, const uint32_t* hashes);

  // Enters the keys i for which wanted(i). numbered(i) says whether one in a fresh place gets a new row at the end of
  // the table. Both are called by the thread of the part that the key is in, in ascending order; first begin(part).
  // `keeps`: what is found is kept for for_range().
  template <class Begin, class Wanted, class Numbered>
  void enter(const Begin& begin, const Wanted& wanted, const Numbered& numbered, bool keeps = true) {
    with_count(table.params, [&](auto params) {
      workers.run(division.parts, [&](size_t p) {
        begin(p);
        if (keeps) {
          enter_part(p, wanted, numbered, params, std::true_type{});
        } else {
          enter_part(p, wanted, numbered, params, std::false_type{});
        }
      });
    });
    number();
  }
  // Calls each(i) for the keys of a range that get a new row, in order.
  template <class Each>
  void for_numbered(size_t range, const Each& each) const {
    const size_t begin = division.begin(range), end = division.begin(range + 1);
    for (size_t w = begin / 64; w * 64 < end; ++w) {
      uint64_t bits = bits_[w];
      if (w * 64 < begin) bits &= ~uint64_t{0} << (begin % 64);
      if (end - w * 64 < 64) bits &= ~(~uint64_t{0} << (end % 64));
      for (; bits != 0; bits &= bits - 1) each(w * 64 + static_cast<size_t>(std::countr_zero(bits)));
    }
  }
  // Calls each(i, found) for the keys of a range, in order.
  template <class Each>
  void for_range(size_t range, const Each& each) const {
    std::array<const Found*, Table::kParts> next{};
    for (size_t p = 0; p < division.parts; ++p) {
      next[p] = division.lists[p].found.data() + division.lists[p].starts[range];
    }
    const uint32_t end = static_cast<uint32_t>(division.begin(range + 1));
    for (uint32_t i = static_cast<uint32_t>(division.begin(range)); i < end; ++i) {
      each(i, *next[Table::part(hashes[i], division.parts)]++);
    }
  }
  // Gives the keys of a part that are in a fresh place their rows: those of `moved` by key that are not below `clean`,
  // the new ones otherwise.
  void settle(size_t part, std::span<const Row> moved = {}, Row clean = kNone);

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
  static constexpr size_t kAhead = 64;

  template <class Count, class Wanted, class Numbered, class Keeps>
  void enter_part(size_t p, const Wanted& wanted, const Numbered& numbered, Count params, Keeps keeps) {
    EntryPart& part = division.lists[p];
    size_t count = 0;
    for (size_t range = 0; range < division.ranges; ++range) {
      part.starts[range] = static_cast<uint32_t>(count);
      count += part.counts[range];
    }
    if (keeps) part.found.resize(count);
    part.fresh.resize(count + 1);
    part.numbered.assign((division.count + 63) / 64, 0);
    EntryPart::Found* found = part.found.data();
    size_t fresh_count = 0;
    size_t used = 0;
    uint64_t* bits = part.numbered.data();
    for (size_t range = 0; range < division.ranges; ++range) {
      const EntryPart::Listed* mine = part.keys.data() + division.begin(range);
      const size_t here = part.counts[range];
      // Behind its end the keys of the next range; where those are too few, one that is of this part, too: other parts
      // are other threads'.
      const bool more = range + 1 < division.ranges && part.counts[range + 1] >= kAhead;
      const EntryPart::Listed* following = part.keys.data() + (more ? division.begin(range + 1) : 0);
      const auto ahead = [&](size_t k) { return k < here ? mine[k] : more ? following[k - here] : mine[0]; };
      for (size_t k = 0; k < here; ++k) {
        table.prefetch(ahead(k + kAhead).hash);
        table.prefetch_row(ahead(k + kAhead / 2).hash, base_);
        __builtin_prefetch(keys + size_t{ahead(k + kAhead / 2).key} * params);
        const auto [i, hash] = mine[k];
        if (!wanted(i)) {
          if (keeps) *found++ = {kNone, 0};
          continue;
        }
        const Table::Place place = table.place(keys + size_t{i} * params, hash, base_ + i, base_, keys, params);
        if (keeps) *found++ = {place.row, static_cast<Value>(place.data)};
        part.fresh[fresh_count] = {place.data, i};
        fresh_count += static_cast<size_t>(place.fresh);
        used += static_cast<size_t>(place.was_free);
        bits[i / 64] |= uint64_t{place.fresh && numbered(i)} << (i % 64);
      }
    }
    part.fresh.resize(fresh_count);
    part.used = used;
  }
  void number();

  Row base_ = 0;
  std::vector<uint64_t> bits_;  // by key
  std::vector<Row> ranks_;      // by word of them: how many come before
  size_t numbered_ = 0;
};

}  // namespace lumen::egraph
