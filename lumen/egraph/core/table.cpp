#include "lumen/egraph/core/table.h"

#include <algorithm>
#include <array>
#include <utility>

namespace lumen::egraph {

namespace {

constexpr uint64_t kRoomyTable = 200'000;

}  // namespace

Table::Table(TableDecl declaration)
    : decl(std::move(declaration)), params(static_cast<uint32_t>(decl.params.size())), indexes_(params + 1) {
  set_room(8);
}

// Slots for two and a half times so many rows, of small tables for nearly four times.
void Table::set_room(uint64_t rows) {
  uint64_t count = (rows < kRoomyTable ? rows * 5 : rows * 10 / 3) / kSlots + 1;
  if (count >= 256) count = (count + kParts - 1) / kParts * kParts;
  groups_.reset_to_zero(count);
  part_groups_ = count < 256 ? count : count / kParts;
  room_ = count * kSlots * 3 / 4;
}

Table::Table(const Table& other)
    : decl(other.decl),
      params(other.params),
      rows_(other.rows_),
      count_(other.count_),
      live_(other.live_),
      subsumed_(other.subsumed_),
      groups_(other.groups_),
      part_groups_(other.part_groups_),
      room_(other.room_),
      used_(other.used_),
      indexes_(other.indexes_.size()) {}

void Table::set_subsumed(Row r) {
  if (r / 64 >= subsumed_.size()) subsumed_.resize(r / 64 + 1, 0);
  subsumed_[r / 64] |= uint64_t{1} << (r % 64);
}

Row Table::append(const Value* args, Value result, uint32_t h) {
  reserve(1);
  const Row r = rows();
  const Place taken = place(args, h, r, params);
  Value* at = extend(1, taken.was_free ? 1 : 0);
  std::copy_n(args, params, at);
  at[params] = result;
  return r;
}

void Table::reenter(Row r) {
  reserve(1);  // when the slots grow for it, `r` has its place already
  if (place(row(r), hash(row(r), params), r, params).was_free) ++used_;
}

void Table::grow_slots(uint64_t more, Workers* workers) {
  const uint64_t rows_now = live_ + more;
  GrowArray<Group> old = std::move(groups_);
  const uint64_t old_part = part_groups_;
  // Room for what is expected, within limits: it may be wrong.
  set_room(std::clamp(expected_ * 2 / 5, rows_now, rows_now * 4));
  used_ = live_;
  with_count(params, [&](auto count) {
    const bool divided = old_part != old.size() && part_groups_ != groups_.size();
    if (workers == nullptr || !divided) {
      old.clear();
      return enter_all(count);
    }
    workers->run(kParts, [&](size_t part) { move_part(part, {old.data() + part * old_part, old_part}, count); });
  });
}

// Enters the live rows, in their order.
template <class Count>
void Table::enter_all(Count count) {
  constexpr Row kBatch = 32;
  std::array<uint32_t, kBatch> hashes;
  const Row end = rows();
  const bool any_dead = live_ < end;  // if none is, rows need not be looked at again
  for (Row begin = 0; begin < end; begin += kBatch) {
    const Row batch = std::min(kBatch, end - begin);
    for (Row i = 0; i < batch; ++i) {
      hashes[i] = hash(rows_.data() + size_t{begin + i} * (count + 1), count);
      prefetch(hashes[i]);
    }
    for (Row i = 0; i < batch; ++i) {
      if (!any_dead || !dead(begin + i)) enter(begin + i, hashes[i]);
    }
  }
}

// Enters the live rows of a part of the old slots, which is the same part of the new ones. In the order of slots, which
// is that of hashes: what is written lies together, and no other thread looks at it. In the order of rows every thread
// would have to look at all hashes; one thread alone is faster that way.
template <class Count>
void Table::move_part(size_t part, std::span<const Group> old, Count count) {
  constexpr size_t kAhead = 8;
  const auto for_rows = [](const Group& group, const auto& each) {
    for (SlotBits used = kAllSlots & ~matching(tags_of(group), kFree); used != 0; used &= used - 1) {
      each(row_in(group, lowest(used)));
    }
  };
  for (size_t g = 0; g < old.size(); ++g) {
    if (g + kAhead < old.size()) {
      for_rows(
          old[g + kAhead], [&](Row r) __attribute__((always_inline)) { __builtin_prefetch(row(r)); });
    }
    for_rows(old[g], [&](Row r) {
      const Value* from = rows_.data() + size_t{r} * (count + 1);
      if (from[count] == kNone) return;
      const uint32_t h = hash(from, count);
      // A row whose arguments were changed in place has two slots, of which one may be of another part.
      if (Table::part(h) == part) enter(r, h);
    });
  }
}

// A live row, unless it is there.
void Table::enter(Row r, uint32_t h) {
  const uint8_t tag = tag_of(h);
  for (uint64_t at = group_of(h);; at = following(at)) {
    Group& group = groups_[at];
    const Tags tags = tags_of(group);
    for (SlotBits same = matching(tags, tag); same != 0; same &= same - 1) {
      if (row_in(group, lowest(same)) == r) return;
    }
    const SlotBits free = matching(tags, kFree);
    if (free == 0) continue;
    group.tags[lowest(free)] = tag;
    group.rows[lowest(free)] = ~r;
    return;
  }
}

Index& Table::catch_up(uint32_t column, Row end, size_t range) {
  if (indexes_[column] != nullptr && indexes_[column]->reach >= end) return *indexes_[column];
  Index& index = start_catch_up(column, range);
  catch_up_share(index, column, end, 0, 1);
  index.reach = std::max(index.reach, end);
  return index;
}

Index& Table::start_catch_up(uint32_t column, size_t range) {
  std::unique_ptr<Index>& index = indexes_[column];
  if (index == nullptr) index = std::make_unique<Index>();
  index->fit(live_, range);
  return *index;
}

void Table::catch_up_share(Index& index, uint32_t column, Row end, uint32_t share, uint32_t shares) const {
  constexpr Row kBatch = 32;
  std::array<Row, kBatch> batch;
  for (Row r = index.reach; r < end;) {
    Row count = 0;
    for (; r < end && count < kBatch; ++r) {
      batch[count] = r;
      const bool mine = (Index::part(row(r)[column]) & (shares - 1)) == share;
      count += static_cast<Row>(mine & !dead(r));  // no branch: it is a coin toss
    }
    for (Row i = 0; i < count; ++i) index.prefetch(row(batch[i])[column]);
    for (Row i = 0; i < count; ++i) index.add(row(batch[i])[column], batch[i]);
  }
}

const Index& Table::catch_up_composite(uint64_t columns, Row end) {
  auto at = std::find_if(composites_.begin(), composites_.end(), [&](auto& c) { return c.columns == columns; });
  if (at == composites_.end()) {
    composites_.push_back({columns, std::make_unique<Index>()});
    at = composites_.end() - 1;
  }
  Index& index = *at->index;
  std::vector<uint32_t> list;
  for (uint32_t c = 0; c < this->columns(); ++c) {
    if ((columns >> c & 1) != 0) list.push_back(c);
  }
  std::vector<Value> values(list.size());
  for (Row r = index.reach; r < end; ++r) {
    if (dead(r)) continue;
    for (size_t i = 0; i < list.size(); ++i) values[i] = row(r)[list[i]];
    index.add(composite_key(values), r);
  }
  index.reach = std::max(index.reach, end);
  return index;
}

void Table::drop_indexes() {
  composites_.clear();
  for (std::unique_ptr<Index>& index : indexes_) index.reset();
}

void Table::compact(std::span<Row> moved) {
  Row to = 0;
  size_t next = 0;
  const Row end = rows();
  std::vector<uint64_t> subsumed = std::move(subsumed_);
  subsumed_.clear();
  for (Row r = 0; r < end; ++r) {
    while (next < moved.size() && moved[next] == r) moved[next++] = to;
    if (dead(r)) continue;
    if (to != r) std::copy_n(row(r), columns(), row(to));
    if (r / 64 < subsumed.size() && (subsumed[r / 64] >> (r % 64) & 1) != 0) set_subsumed(to);
    ++to;
  }
  while (next < moved.size()) moved[next++] = to;
  rows_.resize(size_t{to} * columns());
  count_ = to;
  drop_indexes();
  grow_slots(0, nullptr);
}

size_t Table::bytes() const {
  size_t sum = rows_.bytes() + groups_.bytes() + subsumed_.capacity() * sizeof(uint64_t);
  for (const std::unique_ptr<Index>& index : indexes_) {
    if (index != nullptr) sum += index->bytes();
  }
  for (const Composite& composite : composites_) sum += composite.index->bytes();
  return sum;
}

}  // namespace lumen::egraph
