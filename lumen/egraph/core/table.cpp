#include "lumen/egraph/core/table.h"

#include <algorithm>
#include <array>

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
  const Place taken = place(args, h, r, r, nullptr, params);
  Value* at = extend(1, taken.was_free ? 1 : 0);
  std::copy_n(args, params, at);
  at[params] = result;
  return r;
}

void Table::reenter(Row r) {
  reserve(1);  // when the slots grow for it, `r` has its place already
  if (place(row(r), hash(row(r), params), r, rows(), nullptr, params).was_free) ++used_;
}

void Table::grow_slots(uint64_t more, Workers* workers) {
  // Room for what is expected, within limits: it may be wrong.
  const uint64_t rows_now = live_ + more;
  set_room(std::clamp(expected_ * 2 / 5, rows_now, rows_now * 4));
  used_ = live_;
  if (workers == nullptr || part_groups_ == groups_.size()) {
    return with_count(params, [&](auto count) {
      enter_all(0, 1, [&](Row r) { return hash(rows_.data() + size_t{r} * (count + 1), count); });
    });
  }
  // Every part is entered by one thread, which looks at all hashes.
  GrowArray<uint32_t> hashes;
  hashes.resize(rows());
  constexpr size_t kPiece = 65536;
  workers->run((rows() + kPiece - 1) / kPiece, [&](size_t piece) {
    const size_t end = std::min<size_t>(rows(), (piece + 1) * kPiece);
    for (size_t r = piece * kPiece; r < end; ++r) hashes[r] = hash(row(static_cast<Row>(r)), params);
  });
  const size_t parts = std::min(std::bit_ceil(workers->threads()), size_t{kParts});
  workers->run(parts, [&](size_t part) { enter_all(part, parts, [&](Row r) { return hashes[r]; }); });
}

// Enters the live rows of a part.
template <class HashAt>
void Table::enter_all(size_t part, size_t parts, const HashAt& hash_at) {
  constexpr Row kBatch = 32;
  std::array<uint32_t, kBatch> hashes;
  std::array<Row, kBatch> batch;
  const Row end = rows();
  const bool any_dead = live_ < end;  // if none is, rows need not be looked at
  for (Row r = 0; r < end;) {
    Row count = 0;
    for (; r < end && count < kBatch; ++r) {
      hashes[count] = hash_at(r);
      batch[count] = r;
      count += static_cast<Row>(Table::part(hashes[count], parts) == part);  // no branch: it is a coin toss
    }
    for (Row i = 0; i < count; ++i) __builtin_prefetch(&groups_[group_of(hashes[i])]);
    for (Row i = 0; i < count; ++i) {
      if (any_dead && dead(batch[i])) continue;
      uint64_t at = group_of(hashes[i]);
      SlotBits free = matching(groups_[at], kFree);
      for (; free == 0; free = matching(groups_[at], kFree)) at = following(at);
      const uint32_t slot = lowest(free);
      groups_[at].tags[slot] = tag_of(hashes[i]);
      groups_[at].rows[slot] = batch[i];
    }
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
