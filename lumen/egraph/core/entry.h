// Entering many keys into a table by several threads. The keys of a block fall into ranges by their position, which go
// through two stages; all threads end one before the next begins:
//
//   enter    a key finds the row with its arguments, or enters a candidate: the name of the row that it is to make. Of
//            equal keys the first makes it, whichever thread comes first: a smaller candidate takes a larger one's
//            slot.
//   number   between the stages, by one thread: what candidates are called in the table, in the order of keys
//   finish   new rows are written, and slots get them in place of candidates (many_rows.h)
//
// While a block is finished its next one may be entered, so candidates are of two sides by turns.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "lumen/egraph/core/state.h"

namespace lumen::egraph {

// How a block of `count` keys is divided: into ranges whose memory accesses overlap, and whose keys stay in the nearest
// cache from where they are made to where they are entered.
struct Division {
  static constexpr size_t kRange = 512;  // keys; a multiple of 64
  explicit Division(size_t keys) : count(keys), ranges((keys + kRange - 1) / kRange) {}

  size_t count;
  size_t ranges;
  size_t begin(size_t range) const { return std::min(count, range * kRange); }
};

class Entry {
 public:
  // At most so many keys.
  static constexpr size_t kMostKeys = 0x8000;
  // The arguments of key i are at keys[i * params]. The table has room for them.
  Entry(EGraph::State& state, TableId table, const Division& division, const Value* keys, const uint32_t* hashes,
        uint32_t side);

  // What stands for the row of key i while it is being made; and the other way round.
  Row candidate(size_t i) const { return first_ + static_cast<Row>(i); }
  uint32_t key_of(Row candidate) const { return candidate - first_; }
  bool is_candidate(Row r) const { return r >= first_ && r - first_ < kMostKeys; }

  // Enters the keys of a range, which are there, and so are their hashes: place(i, found) does with table.place_shared,
  // or not. numbered(i): whether a new row is at the end of the table.
  template <class Place, class Numbered>
  void enter(size_t range, const Place& place, const Numbered& numbered) {
    const size_t begin = division.begin(range), end = division.begin(range + 1);
    for (size_t i = begin; i < std::min(end, begin + kAhead); ++i) table.prefetch(hashes[i]);
    for (size_t i = begin; i < std::min(end, begin + kAhead / 2); ++i) table.prefetch_row_shared(hashes[i]);
    EntryRange& mine = space_.ranges[range];
    mine.used = 0;
    mine.displaced.clear();
    for (size_t word = begin; word < end; word += 64) {
      uint64_t bits = 0;
      for (size_t i = word; i < std::min(end, word + 64); ++i) {
        table.prefetch(hashes[std::min(i + kAhead, end - 1)]);
        table.prefetch_row_shared(hashes[std::min(i + kAhead / 2, end - 1)]);
        Table::SharedPlace found;
        place(i, found);
        space_.found[i] = {found.row, found.data};
        mine.used += found.was_free;
        bits |= uint64_t{found.row == candidate(i) && numbered(i)} << (i % 64);
        if (found.displaced != kNone) mine.displaced.push_back({found.displaced, candidate(i)});
      }
      space_.numbered[word / 64] = bits;
    }
  }
  // When all ranges are entered.
  void number();

  // The keys with a new row at the end: how many there are, and how many come before key i.
  size_t numbered() const { return numbered_; }
  Row number_of(size_t i) const;
  // What key i found: the candidate(i) when it makes a row.
  const EntryFound& found(size_t i) const { return space_.found[i]; }
  // Calls each(i) for the keys of a range that get a new row at the end, in order.
  template <class Each>
  [[gnu::always_inline]] void for_numbered(size_t range, const Each& each) const {
    for (size_t word = division.begin(range); word < division.begin(range + 1); word += 64) {
      for (uint64_t bits = space_.numbered[word / 64]; bits != 0; bits &= bits - 1) {
        each(word + static_cast<size_t>(std::countr_zero(bits)));
      }
    }
  }
  // Of key i, if it has one of its own. Always inline: it would be taken for a function without effect.
  [[gnu::always_inline]] void prefetch_slot(size_t i) const {
    table.prefetch_slot(found(i).row == candidate(i) ? found(i).data : 0);
  }
  [[gnu::always_inline]] void prefetch_slots(size_t range) const {
    for_numbered(
        range, [&](size_t i) __attribute__((always_inline)) { table.prefetch_slot(found(i).data); });
  }
  // Rows from here on are the new ones; and they, not written yet.
  Row base() const { return base_; }
  Value* rows() const { return rows_; }

  const Division division;
  const TableId id;
  Table& table;
  const Value* const keys;
  const uint32_t* const hashes;

 private:
  static constexpr size_t kAhead = 64;  // keys whose groups are fetched

  Workers& workers_;
  EntrySpace& space_;
  const Row first_;
  Row base_ = 0;
  Value* rows_ = nullptr;
  size_t numbered_ = 0;
};

}  // namespace lumen::egraph
