// Table: the rows of one function, appended only. A row is the arguments and the result; a row whose result is kNone
// is dead. Arguments are unique among live rows: a hash table finds a row by them.
#pragma once

#if defined(__SSE2__)
#include <emmintrin.h>
#elif defined(__ARM_NEON)
#include <arm_neon.h>
#endif

#include <array>
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
  [[gnu::always_inline]] void prefetch_row(uint32_t h, Row below = kNone) const {
    const Group& group = groups_[group_of(h)];
    const SlotBits same = matching(group, tag_of(h));
    if (same == 0) return;
    const Row r = group.rows[lowest(same)];
    if (r < below) __builtin_prefetch(row(r));
  }
  // The live row with these arguments, or kNone.
  Row find(const Value* args, uint32_t h) const {
    const uint8_t tag = tag_of(h);
    for (uint64_t at = group_of(h);; at = following(at)) {
      const Group& group = groups_[at];
      for (SlotBits same = matching(group, tag); same != 0; same &= same - 1) {
        const Row r = group.rows[lowest(same)];
        if (same_args(row(r), args, params)) return dead(r) ? kNone : r;
      }
      if (matching(group, kFree) != 0) return kNone;
    }
  }
  Row find(const Value* args) const { return find(args, hash(args, params)); }
  // A new row; no live row has these arguments.
  Row append(const Value* args, Value result, uint32_t h);
  // Enters row `r`, whose arguments were changed in place; no other live row has them.
  void reenter(Row r);

  // ---- finding or entering; also by several threads at once, see many_rows.h

  // The slots fall into `parts` (a power of two, at most kParts) that do not touch each other; which one a hash is in.
  static constexpr uint64_t kParts = 16;
  static size_t part(uint32_t h, size_t parts) { return (uint64_t{h} * parts) >> 32; }
  // Room for so many more rows, so that what follows does not move slots. With `workers` there are kParts afterwards.
  void reserve(size_t more, Workers* workers = nullptr) {
    const bool undivided = workers != nullptr && part_groups_ == groups_.size();
    if (used_ + more > room_ || undivided) grow_slots(more, workers);
  }
  // About so many rows are going to be there, by the next time slots must grow; 0: not known.
  void expect(uint64_t rows) { expected_ = rows; }
  struct Place {
    Row row;        // that has the arguments: in the table, or `base` + the number of a row that is being made
    bool fresh;     // taken for `candidate` just now
    bool was_free;  // and the slot was not in use before
    uint64_t data;  // the result of a row of the table, else the slot
  };
  // Finds the row, or enters `candidate` (base + its number; its arguments are at keys[number * params]). Threads may
  // do so at the same time in different parts.
  template <class Count>
  Place place(const Value* args, uint32_t h, Row candidate, Row base, const Value* keys, Count count) {
    const uint8_t tag = tag_of(h);
    for (uint64_t at = group_of(h);; at = following(at)) {
      Group& group = groups_[at];
      for (SlotBits same = matching(group, tag); same != 0; same &= same - 1) {
        const uint32_t i = lowest(same);
        const Row r = group.rows[i];
        if (r >= base) {
          if (same_args(keys + size_t{r - base} * count, args, count)) return {r, false, false, slot_of(at, i)};
          continue;
        }
        const Value* row = rows_.data() + size_t{r} * (count + 1);
        if (same_args(row, args, count)) {
          if (row[count] != kNone) return {r, false, false, row[count]};
          group.rows[i] = candidate;
          return {candidate, true, false, slot_of(at, i)};
        }
      }
      if (const SlotBits free = matching(group, kFree); free != 0) {
        const uint32_t i = lowest(free);
        group.tags[i] = tag;
        group.rows[i] = candidate;
        return {candidate, true, true, slot_of(at, i)};
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
  void settle(uint64_t slot, Row row) { groups_[slot / 16].rows[slot % 16] = row; }

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
    std::array<Row, kSlots> rows;
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
  // The slots with this tag.
  static SlotBits matching(const Group& group, uint8_t tag) {
#if defined(__SSE2__)
    const __m128i tags = _mm_load_si128(reinterpret_cast<const __m128i*>(group.tags.data()));
    const __m128i same = _mm_cmpeq_epi8(tags, _mm_set1_epi8(static_cast<char>(tag)));
    return static_cast<uint32_t>(_mm_movemask_epi8(same)) & kAllSlots;
#elif defined(__ARM_NEON)
    // There is no movemask: pairs of bytes, shifted by four, leave four bits of each.
    const uint8x16_t same = vceqq_u8(vld1q_u8(group.tags.data()), vdupq_n_u8(tag));
    const uint8x8_t halves = vshrn_n_u16(vreinterpretq_u16_u8(same), 4);
    return vget_lane_u64(vreinterpret_u64_u8(halves), 0) & kAllSlots;
#else
    SlotBits same = 0;
    for (uint32_t i = 0; i < kSlots; ++i) same |= static_cast<SlotBits>(group.tags[i] == tag) << i;
    return same;
#endif
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
  uint64_t part_groups_ = 0;  // groups in a kParts-th of the slots, or all when there are few
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
