#include "lumen/egraph/core/table.h"

#include <algorithm>
#include <array>
#include <bit>

namespace lumen::egraph {

Table::Table(TableDecl declaration)
    : decl(std::move(declaration)), params(static_cast<uint32_t>(decl.params.size())), indexes_(params + 1) {
  set_capacity(8);
}

void Table::set_capacity(uint64_t capacity) {
  slots_.clear();
  slots_.resize(capacity, kFree);
  mask_ = capacity - 1;
  mask_bits_ = static_cast<uint32_t>(std::countr_zero(capacity));
  part_mask_ = capacity < 256 * kParts ? mask_ : capacity / kParts - 1;
}

Table::Table(const Table& other)
    : decl(other.decl),
      params(other.params),
      rows_(other.rows_),
      live_(other.live_),
      subsumed_(other.subsumed_),
      slots_(other.slots_),
      mask_(other.mask_),
      part_mask_(other.part_mask_),
      mask_bits_(other.mask_bits_),
      used_(other.used_),
      indexes_(other.indexes_.size()) {}

void Table::set_subsumed(Row r) {
  if (r / 64 >= subsumed_.size()) subsumed_.resize(r / 64 + 1, 0);
  subsumed_[r / 64] |= uint64_t{1} << (r % 64);
}

Row Table::append(const Value* args, Value result, uint64_t h) {
  reserve(1);
  const Row r = rows();
  const Place taken = place(args, h, r, r, nullptr);
  Value* at = extend(1, taken.was_free ? 1 : 0);
  std::copy_n(args, params, at);
  at[params] = result;
  return r;
}

void Table::reenter(Row r) {
  reserve(1);  // when the slots grow for it, `r` has its place already
  if (place(row(r), hash(row(r), params), r, rows(), nullptr).was_free) ++used_;
}

void Table::grow_slots(uint64_t more) {
  set_capacity(std::bit_ceil(std::max<uint64_t>(8, (live_ + more) * 2)));
  used_ = live_;
  constexpr Row kBatch = 32;
  std::array<uint64_t, kBatch> hashes;
  for (Row first = 0; first < rows(); first += kBatch) {
    const Row count = std::min(kBatch, rows() - first);
    for (Row i = 0; i < count; ++i) {
      hashes[i] = hash(row(first + i), params);
      prefetch(hashes[i]);
    }
    for (Row i = 0; i < count; ++i) {
      if (dead(first + i)) continue;
      uint64_t at = hashes[i] & mask_;
      while (slots_[at] != kFree) at = following(at);
      slots_[at] = (hashes[i] >> 32 << 32) | (first + i);
    }
  }
}

Index& Table::catch_up(uint32_t column, Row end, size_t range) {
  std::unique_ptr<Index>& index = indexes_[column];
  if (index == nullptr) index = std::make_unique<Index>();
  if (index->reach >= end) return *index;
  index->fit(live_, range);
  constexpr Row kAhead = 8;
  for (Row r = index->reach; r < end; ++r) {
    if (r + kAhead < end) index->prefetch(row(r + kAhead)[column]);
    if (!dead(r)) index->add(row(r)[column], r);
  }
  index->reach = end;
  return *index;
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

void Table::catch_up_composites() {
  for (const Composite& composite : composites_) catch_up_composite(composite.columns, rows());
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
  drop_indexes();
  grow_slots(0);
}

size_t Table::bytes() const {
  size_t sum = rows_.bytes() + slots_.bytes() + subsumed_.capacity() * sizeof(uint64_t);
  for (const std::unique_ptr<Index>& index : indexes_) {
    if (index != nullptr) sum += index->bytes();
  }
  for (const Composite& composite : composites_) sum += composite.index->bytes();
  return sum;
}

}  // namespace lumen::egraph
