// Table: the rows of one function, appended only. A row is the arguments and the result; a row whose result is kNone
// is dead. Arguments are unique among live rows: a hash table finds a row by them.
#pragma once

#if defined(__SSE2__)
#include <emmintrin.h>
#elif defined(__ARM_NEON)
#include <arm_neon.h>
#endif

#include <array>
#include <atomic>
#include <bit>
#include <memory>
#include <optional>
#include <span>
#include <type_traits>
#include <vector>

#include "lumen/egraph/core/grow_array.h"
#include "lumen/egraph/core/index.h"
#include "lumen/egraph/core/rule.h"
#include "lumen/egraph/core/value.h"
#include "lumen/egraph/core/workers.h"

namespace lumen::egraph {

// Calls work(count). The usual numbers of arguments are known when compiling: loops over them unroll.
template <class Work>
decltype(auto) with_count(uint32_t count, const Work& work) {
  switch (count) {
    case 1:
      return work(std::integral_constant<uint32_t, 1>{});
    case 2:
      return work(std::integral_constant<uint32_t, 2>{});
    case 3:
      return work(std::integral_constant<uint32_t, 3>{});
    default:
      return work(count);
  }
}

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

  Row rows() const { return count_; }
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

  template <class Count>
  static bool same_args(const Value* a, const Value* b, Count count) {
    bool same = true;
    for (uint32_t i = 0; i < count; ++i) same = same & (a[i] == b[i]);
    return same;
  }

  // `count` as with_count gives it, here and below.
  template <class Count>
  static uint32_t hash(const Value* args, Count given) {
    const uint32_t count = static_cast<uint32_t>(given);
    uint64_t h = 0x2d358dccaa6c78a5u ^ count;
    uint32_t i = 0;
    for (; i + 1 < count; i += 2) h = fold(h ^ (args[i] | uint64_t{args[i + 1]} << 32), 0x8bb84b93962eacc9u);
    if (i < count) h = fold(h ^ args[i], 0x4b33a62ed433d4a3u);
    return static_cast<uint32_t>(h >> 32);
  }
  // Always inline: gcc takes a function that only prefetches for one without effect and drops its calls.
  [[gnu::always_inline]] void prefetch(uint32_t h) const { __builtin_prefetch(&groups_[group_of(h)]); }
  // Reads the group (prefetched before) and prefetches the row that is probably meant.
  [[gnu::always_inline]] void prefetch_row(uint32_t h) const {
    const Group& group = groups_[group_of(h)];
    if (const SlotBits same = matching(tags_of(group), tag_of(h)); same != 0) {
      __builtin_prefetch(row(row_in(group, lowest(same))));
    }
  }
  // The same while other threads enter rows.
  [[gnu::always_inline]] void prefetch_row_shared(uint32_t h) const {
    const Group& group = groups_[group_of(h)];
    const SlotBits same = matching(shared_tags_of(group), tag_of(h));
    if (same == 0) return;
    if (const Row r = shared_row_in(group, lowest(same)); r < kCandidates) __builtin_prefetch(row(r));
  }
  // The live row with these arguments, or kNone.
  Row find(const Value* args, uint32_t h) const {
    const uint8_t tag = tag_of(h);
    for (uint64_t at = group_of(h);; at = following(at)) {
      const Group& group = groups_[at];
      const Tags tags = tags_of(group);
      for (SlotBits same = matching(tags, tag); same != 0; same &= same - 1) {
        const Row r = row_in(group, lowest(same));
        if (same_args(row(r), args, params)) return dead(r) ? kNone : r;
      }
      if (matching(tags, kFree) != 0) return kNone;
    }
  }
  Row find(const Value* args) const { return find(args, hash(args, params)); }
  // A new row; no live row has these arguments.
  Row append(const Value* args, Value result, uint32_t h);
  // Enters row `r`, whose arguments were changed in place; no other live row has them.
  void reenter(Row r);

  // ---- finding or entering

  // Room for so many more rows, so that what follows does not move slots; `workers` may move those that there are.
  void reserve(size_t more, Workers* workers = nullptr) {
    if (used_ + more > room_) grow_slots(more, workers);
  }
  // About so many rows are going to be there, by the next time slots must grow; 0: not known.
  void expect(uint64_t rows) { expected_ = rows; }
  struct Place {
    Row row;        // that has the arguments
    bool fresh;     // taken for `candidate` just now
    bool was_free;  // and the slot was not in use before
    Value result;   // of a row that was there
  };
  // Finds the row, or enters `candidate`.
  template <class Count>
  Place place(const Value* args, uint32_t h, Row candidate, Count count) {
    const uint8_t tag = tag_of(h);
    for (uint64_t at = group_of(h);; at = following(at)) {
      Group& group = groups_[at];
      const Tags tags = tags_of(group);
      for (SlotBits same = matching(tags, tag); same != 0; same &= same - 1) {
        const uint32_t i = lowest(same);
        const Row r = row_in(group, i);
        const Value* row = rows_.data() + size_t{r} * (count + 1);
        if (!same_args(row, args, count)) continue;
        if (row[count] != kNone) return {r, false, false, row[count]};
        group.rows[i] = ~candidate;
        return {candidate, true, false, kNone};
      }
      if (const SlotBits free = matching(tags, kFree); free != 0) {
        const uint32_t i = lowest(free);
        group.tags[i] = tag;
        group.rows[i] = ~candidate;
        return {candidate, true, true, kNone};
      }
    }
  }

  // ---- the same by several threads at once, see entry.h

  // Rows from here on are candidates: names of rows that are being made, while it is not known where they come.
  static constexpr Row kCandidates = 0xfffe0000;
  struct SharedPlace {
    Row row = kNone;        // that has the arguments, or the candidate that does
    Row displaced = kNone;  // the candidate whose slot was taken for this one
    size_t was_free = 0;    // 1: the slot was not in use before
    uint64_t data = 0;      // the result of a row of the table; the slot when `candidate` was entered
  };
  // Fills in `place`. Of the keys that others enter: keys.args(candidate); whether keys.yields(candidate, to another)
  // that has the same arguments, and whether the key at hand replaces(row), which is alive. The outcome for equal keys
  // must not depend on who comes first.
  template <class Keys, class Count>
  [[gnu::always_inline]] void place_shared(const Value* args, uint32_t h, Row candidate, const Keys& keys, Count count,
                                           SharedPlace& place) {
    const uint8_t tag = tag_of(h);
    for (uint64_t at = group_of(h);; at = following(at)) {
      Group& group = groups_[at];
      const Tags tags = shared_tags_of(group);
      for (SlotBits same = matching(tags, tag); same != 0; same &= same - 1) {
        if (try_slot(at, lowest(same), args, candidate, keys, count, place)) return;
      }
      for (SlotBits free = matching(tags, kFree); free != 0; free &= free - 1) {
        const uint32_t i = lowest(free);
        Row none = 0;
        if (std::atomic_ref(group.rows[i]).compare_exchange_strong(none, ~candidate, std::memory_order_acq_rel)) {
          std::atomic_ref(group.tags[i]).store(tag, std::memory_order_release);
          place.row = candidate;
          place.was_free = 1;
          place.data = slot_of(at, i);
          return;
        }
        // Another thread was faster, perhaps with the same arguments.
        if (try_slot(at, i, args, candidate, keys, count, place)) return;
      }
    }
  }
  // `count` rows at the end, not written yet; `used` of them took a free slot. `workers` are going to write them.
  Value* extend(size_t count, size_t used, Workers* workers = nullptr) {
    live_ += static_cast<Row>(count);
    count_ += static_cast<Row>(count);
    used_ += used;
    Value* at = rows_.append(count * columns());
    if (workers != nullptr) rows_.populate(*workers);
    return at;
  }
  // Memory for so many rows at the end, where the next extend() puts them.
  Value* room(size_t count) { return rows_.room(count * columns()); }
  // So many rows were killed by writing kNone to them.
  void forget(Row count) { live_ -= count; }
  [[gnu::always_inline]] void prefetch_slot(uint64_t slot) const { __builtin_prefetch(&groups_[slot / 16], 1); }
  // The candidate in the slot is this row, which is written; if there is one: no branch, it is a coin toss.
  void settle(uint64_t slot, Row row, bool is_one = true) {
    Row unused = 0;
    std::atomic_ref(is_one ? groups_[slot / 16].rows[slot % 16] : unused).store(~row, std::memory_order_release);
  }

  void kill(Row r) {
    row(r)[params] = kNone;
    forget(1);
  }

  // ---- by column

  // Null when there is none. The tail of a running iteration is not indexed.
  const Index* index(uint32_t column) const { return indexes_[column].get(); }
  // Makes it, or brings it up to row `end`. `range`: the values of the column lie in [0, range), or 0.
  Index& catch_up(uint32_t column, Row end, size_t range);
  // The same by several threads: the index that is behind, then for every share of `shares` (a power of two, at most
  // Index::kParts) its rows up to `end`, then index.reach = end.
  Index& start_catch_up(uint32_t column, size_t range);
  void catch_up_share(Index& index, uint32_t column, Row end, uint32_t share, uint32_t shares) const;
  // By several columns at once (bits of `columns`). The rows listed for a key are those with its hash: compare them.
  const Index* composite(uint64_t columns) const {
    for (const Composite& composite : composites_) {
      if (composite.columns == columns) return composite.index.get();
    }
    return nullptr;
  }
  const Index& catch_up_composite(uint64_t columns, Row end);
  // Calls each(columns, index), the columns as bits.
  template <class Each>
  void for_each_index(const Each& each) {
    for (uint32_t c = 0; c < columns(); ++c) {
      if (indexes_[c] != nullptr) each(uint64_t{1} << c, *indexes_[c]);
    }
    for (const Composite& composite : composites_) each(composite.columns, *composite.index);
  }
  static Value composite_key(std::span<const Value> values) {
    return hash(values.data(), static_cast<uint32_t>(values.size())) & 0x7fffffff;
  }
  void drop_indexes();

  // Removes dead rows. Positions below change as `moved` says: for each of the ascending positions given, the new one.
  void compact(std::span<Row> moved);

  size_t bytes() const;

 private:
  // A cache line of slots. A slot has a tag of the hash (0: free) and a row.
  static constexpr uint32_t kSlots = 12;
  struct alignas(64) Group {
    std::array<uint8_t, 16> tags;  // the last four are not used
    std::array<Row, kSlots> rows;  // with all bits turned: 0 is none
  };
  static constexpr uint8_t kFree = 0;
  static uint8_t tag_of(uint32_t h) {
    const uint8_t tag = static_cast<uint8_t>(h);
    return tag == kFree ? uint8_t{1} : tag;
  }
  uint64_t group_of(uint32_t h) const { return (uint64_t{h} * groups_.size()) >> 32; }
  static uint64_t slot_of(uint64_t group, uint32_t i) { return group * 16 + i; }
  // Some slots of a group: a bit of each, the lowest of kSlotBits.
#if defined(__ARM_NEON) && !defined(__SSE2__)
  using SlotBits = uint64_t;
  static constexpr uint32_t kSlotBits = 4;
  static constexpr SlotBits kAllSlots = 0x1111111111111111u >> (64 - kSlotBits * kSlots);
#else
  using SlotBits = uint32_t;
  static constexpr uint32_t kSlotBits = 1;
  static constexpr SlotBits kAllSlots = (1u << kSlots) - 1;
#endif
  static uint32_t lowest(SlotBits bits) { return static_cast<uint32_t>(std::countr_zero(bits)) / kSlotBits; }
  static Row row_in(const Group& group, uint32_t i) { return ~group.rows[i]; }
  // What another thread has entered is read in full: its key, or its row once it is settled.
  static Row shared_row_in(const Group& group, uint32_t i) {
    return ~std::atomic_ref(const_cast<Row&>(group.rows[i])).load(std::memory_order_acquire);
  }
  // The tags of a group at once; and while other threads set them.
#if defined(__SSE2__)
  using Tags = __m128i;
  static Tags tags_of(const Group& group) {
    return _mm_load_si128(reinterpret_cast<const __m128i*>(group.tags.data()));
  }
  static Tags tags_of(uint64_t low, uint64_t high) {
    return _mm_set_epi64x(static_cast<long long>(high), static_cast<long long>(low));
  }
#elif defined(__ARM_NEON)
  using Tags = uint8x16_t;
  static Tags tags_of(const Group& group) { return vld1q_u8(group.tags.data()); }
  static Tags tags_of(uint64_t low, uint64_t high) { return vcombine_u8(vcreate_u8(low), vcreate_u8(high)); }
#else
  using Tags = std::array<uint8_t, 16>;
  static Tags tags_of(const Group& group) { return group.tags; }
  static Tags tags_of(uint64_t low, uint64_t high) { return std::bit_cast<Tags>(std::array{low, high}); }
#endif
  static Tags shared_tags_of(const Group& group) {
    uint64_t* halves = reinterpret_cast<uint64_t*>(const_cast<uint8_t*>(group.tags.data()));
    const uint64_t low = std::atomic_ref(halves[0]).load(std::memory_order_acquire);
    return tags_of(low, std::atomic_ref(halves[1]).load(std::memory_order_acquire));
  }
  // The slots with this tag.
  static SlotBits matching(const Tags& tags, uint8_t tag) {
#if defined(__SSE2__)
    const __m128i same = _mm_cmpeq_epi8(tags, _mm_set1_epi8(static_cast<char>(tag)));
    return static_cast<uint32_t>(_mm_movemask_epi8(same)) & kAllSlots;
#elif defined(__ARM_NEON)
    // There is no movemask: pairs of bytes, shifted by four, leave four bits of each.
    const uint8x16_t same = vceqq_u8(tags, vdupq_n_u8(tag));
    const uint8x8_t halves = vshrn_n_u16(vreinterpretq_u16_u8(same), 4);
    return vget_lane_u64(vreinterpret_u64_u8(halves), 0) & kAllSlots;
#else
    SlotBits same = 0;
    for (uint32_t i = 0; i < kSlots; ++i) same |= static_cast<SlotBits>(tags[i] == tag) << i;
    return same;
#endif
  }
  // Whether a slot has these arguments: then what place_shared does.
  template <class Keys, class Count>
  [[gnu::always_inline]] bool try_slot(uint64_t at, uint32_t i, const Value* args, Row candidate, const Keys& keys,
                                       Count count, SharedPlace& place) {
    for (;;) {
      const Row r = shared_row_in(groups_[at], i);
      const bool made = r < kCandidates;
      const Value* row = made ? rows_.data() + size_t{r} * (count + 1) : keys.args(r);
      if (!same_args(row, args, count)) return false;
      place.row = r;
      if (made) {
        place.data = row[count];
        if (row[count] != kNone && !keys.replaces(r)) return true;
      } else if (r <= candidate || !keys.yields(r, candidate)) {
        return true;
      }
      Row seen = ~r;
      if (!std::atomic_ref(groups_[at].rows[i]).compare_exchange_strong(seen, ~candidate, std::memory_order_acq_rel)) {
        continue;
      }
      place.row = candidate;
      if (!made) place.displaced = r;
      place.data = slot_of(at, i);
      return true;
    }
  }
  static uint64_t fold(uint64_t a, uint64_t b) {
    const unsigned __int128 product = static_cast<unsigned __int128>(a) * b;
    return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
  }
  // Probing stays in the part of the first group.
  uint64_t following(uint64_t group) const {
    return (group + 1) % part_groups_ != 0 ? group + 1 : group + 1 - part_groups_;
  }
  void set_room(uint64_t rows);
  void grow_slots(uint64_t more, Workers* workers);
  template <class Count>
  void enter_all(Count count);
  template <class Count>
  void move_part(size_t part, std::span<const Group> old, Count count);
  void enter(Row r, uint32_t h);

  GrowArray<Value> rows_;
  Row count_ = 0;
  Row live_ = 0;
  std::vector<uint64_t> subsumed_;  // bits by row; empty while there are none
  GrowArray<Group> groups_;
  // The slots fall into kParts that do not touch each other, unless there are few: threads move a part each.
  static constexpr uint64_t kParts = 16;
  static size_t part(uint32_t h) { return (uint64_t{h} * kParts) >> 32; }
  uint64_t part_groups_ = 0;  // groups in a part, or all when there are few
  uint64_t room_ = 0;         // slots that may be used before there must be more
  uint64_t used_ = 0;
  uint64_t expected_ = 0;
  std::vector<std::unique_ptr<Index>> indexes_;  // by column
  struct Composite {
    uint64_t columns;
    std::unique_ptr<Index> index;
  };
  std::vector<Composite> composites_;
};

}  // namespace lumen::egraph
