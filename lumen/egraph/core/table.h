// Table: the rows of one function, appended only. A row is the arguments and the result; a row whose result is kNone
// is dead. Arguments are unique among live rows: a hash table finds a row by them.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "lumen/egraph/core/grow_array.h"
#include "lumen/egraph/core/index.h"
#include "lumen/egraph/core/rule.h"
#include "lumen/egraph/core/value.h"

namespace lumen::egraph {

class Table {
 public:
  explicit Table(TableDecl declaration);
  // Indexes are not copied: they are made anew when asked for.
  Table(const Table& other);
  Table& operator=(const Table&) = delete;
  Table(Table&&) noexcept = default;
  Table& operator=(Table&&) = delete;

  TableDecl decl;
  const uint32_t params;  // columns but the last

  Row rows() const { return static_cast<Row>(rows_.size() / columns()); }
  Row live() const { return live_; }
  uint32_t columns() const { return params + 1; }
  Value* row(Row r) { return rows_.data() + size_t{r} * columns(); }
  const Value* row(Row r) const { return rows_.data() + size_t{r} * columns(); }
  Value result(Row r) const { return row(r)[params]; }
  bool dead(Row r) const { return result(r) == kNone; }
  bool subsumed(Row r) const { return r / 64 < subsumed_.size() && (subsumed_[r / 64] >> (r % 64) & 1) != 0; }
  bool any_subsumed() const { return !subsumed_.empty(); }
  void set_subsumed(Row r);

  // ---- by arguments

  static uint64_t hash(const Value* args, uint32_t count) {
    uint64_t h = 0x2d358dccaa6c78a5u ^ count;
    uint32_t i = 0;
    for (; i + 1 < count; i += 2) h = fold(h ^ (args[i] | uint64_t{args[i + 1]} << 32), 0x8bb84b93962eacc9u);
    if (i < count) h = fold(h ^ args[i], 0x4b33a62ed433d4a3u);
    return h;
  }
  void prefetch(uint64_t h) const { __builtin_prefetch(slots_.data() + (h & mask_)); }
  // Reads the slot (prefetched before) and prefetches the row that is probably meant.
  void prefetch_row(uint64_t h, Row below = kNone) const {
    const Row r = static_cast<Row>(slots_[h & mask_]);
    if (r < below) __builtin_prefetch(row(r));
  }
  // The live row with these arguments, or kNone.
  Row find(const Value* args, uint64_t h) const {
    for (uint64_t at = h & mask_;; at = following(at)) {
      const uint64_t slot = slots_[at];
      if (slot == kFree) return kNone;
      if (static_cast<uint32_t>(slot >> 32) != static_cast<uint32_t>(h >> 32)) continue;
      const Row r = static_cast<Row>(slot);
      if (same_args(row(r), args)) return dead(r) ? kNone : r;
    }
  }
  Row find(const Value* args) const { return find(args, hash(args, params)); }
  // A new row; no live row has these arguments.
  Row append(const Value* args, Value result, uint64_t h);
  // Enters row `r`, whose arguments were changed in place; no other live row has them.
  void reenter(Row r);

  // ---- finding or entering; also by several threads at once, see make_many.h

  // The slots fall into `parts` (a power of two, at most kParts) that do not touch each other; which one a hash is in.
  static constexpr uint64_t kParts = 16;
  size_t part(uint64_t h, size_t parts) const { return ((h & mask_) * parts) >> mask_bits_; }
  // Room for so many more rows, so that what follows does not move slots.
  void reserve(size_t more) {
    if ((used_ + more + 1) * 8 > (mask_ + 1) * 5) grow_slots(more);
  }
  struct Place {
    Row row;  // that has the arguments: in the table, or `base` + the number of a row that is being made
    uint64_t slot;
    bool fresh;     // taken for `candidate` just now
    bool was_free;  // and the slot was not in use before
  };
  // Finds the row, or enters `candidate` (base + its number; its arguments are at keys[number * params]). Threads may
  // do so at the same time in different parts.
  Place place(const Value* args, uint64_t h, Row candidate, Row base, const Value* keys) {
    const uint64_t slot = (h >> 32 << 32) | candidate;
    for (uint64_t at = h & mask_;; at = following(at)) {
      if (slots_[at] == kFree) {
        slots_[at] = slot;
        return {candidate, at, true, true};
      }
      if (slots_[at] >> 32 != h >> 32) continue;
      const Row r = static_cast<Row>(slots_[at]);
      if (r >= base) {
        if (same_args(keys + size_t{r - base} * params, args)) return {r, at, false, false};
      } else if (same_args(row(r), args)) {
        if (!dead(r)) return {r, at, false, false};
        slots_[at] = slot;
        return {candidate, at, true, false};
      }
    }
  }
  // `count` rows at the end, not written yet; `used` of them took a free slot.
  Value* extend(size_t count, size_t used) {
    live_ += static_cast<Row>(count);
    used_ += used;
    return rows_.append(count * columns());
  }
  void settle(uint64_t slot, Row row) { slots_[slot] = (slots_[slot] >> 32 << 32) | row; }

  void kill(Row r) {
    row(r)[params] = kNone;
    --live_;
  }

  // ---- by column

  // Null when there is none. The tail of a running iteration is not indexed.
  const Index* index(uint32_t column) const { return indexes_[column].get(); }
  // Makes it, or brings it up to row `end`. `range`: the values of the column lie in [0, range), or 0.
  Index& catch_up(uint32_t column, Row end, size_t range);
  // By several columns at once (bits of `columns`). The rows listed for a key are those with its hash: compare them.
  const Index* composite(uint64_t columns) const {
    for (const Composite& composite : composites_) {
      if (composite.columns == columns) return composite.index.get();
    }
    return nullptr;
  }
  const Index& catch_up_composite(uint64_t columns, Row end);
  void catch_up_composites();
  static Value composite_key(std::span<const Value> values) {
    const uint64_t h = hash(values.data(), static_cast<uint32_t>(values.size()));
    return static_cast<Value>(h ^ h >> 32) & 0x7fffffff;
  }
  void drop_indexes();

  // Removes dead rows. Positions below change as `moved` says: for each of the ascending positions given, the new one.
  void compact(std::span<Row> moved);

  size_t bytes() const;

 private:
  static constexpr uint64_t kFree = ~uint64_t{0};
  static uint64_t fold(uint64_t a, uint64_t b) {
    const unsigned __int128 product = static_cast<unsigned __int128>(a) * b;
    return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
  }
  bool same_args(const Value* a, const Value* b) const {
    for (uint32_t i = 0; i < params; ++i) {
      if (a[i] != b[i]) return false;
    }
    return true;
  }
  // Probing stays in the part of the first slot.
  uint64_t following(uint64_t at) const { return (at & ~part_mask_) | ((at + 1) & part_mask_); }
  void set_capacity(uint64_t capacity);
  void grow_slots(uint64_t more);

  GrowArray<Value> rows_;
  Row live_ = 0;
  std::vector<uint64_t> subsumed_;  // bits by row; empty while there are none
  GrowArray<uint64_t> slots_;       // high half: high half of the hash; low half: the row
  uint64_t mask_ = 0;
  uint64_t part_mask_ = 0;  // of a kParts-th of the slots, or of all when there are few
  uint32_t mask_bits_ = 0;
  uint64_t used_ = 0;
  std::vector<std::unique_ptr<Index>> indexes_;  // by column
  struct Composite {
    uint64_t columns;
    std::unique_ptr<Index> index;
  };
  std::vector<Composite> composites_;
};

}  // namespace lumen::egraph
