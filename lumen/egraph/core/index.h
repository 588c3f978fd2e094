// Index: for a column of a table, the rows that have a value there, ascending. Rows only join (the table appends);
// dead rows stay listed until the table is compacted. It is in parts by value, to which threads can add at once.
#pragma once

#include <array>
#include <atomic>
#include <span>
#include <vector>

#include "lumen/egraph/core/grow_array.h"
#include "lumen/egraph/core/value.h"

namespace lumen::egraph {

// Of the values of a part, divided by the number of parts. Parts that threads write to share no cache line.
class alignas(64) IndexPart {
 public:
  std::span<const Row> find(Value value) const {
    const Bucket* bucket = bucket_of(value);
    if (bucket == nullptr || bucket->count == 0) return {};
    if (bucket->count == 1) return {&bucket->data, 1};
    return {postings_.data() + bucket->data, bucket->count};
  }
  [[gnu::always_inline]] void prefetch(Value value) const {
    if (dense_) {
      if (value < buckets_.size()) __builtin_prefetch(buckets_.data() + value);
    } else if (mask_ != 0) {
      __builtin_prefetch(keys_.data() + (spread(value) & mask_));
    }
  }
  void add(Value value, Row row);
  uint32_t values() const { return used_; }
  // Decides between an array by value and a hash table.
  void fit(size_t rows, size_t range);
  size_t bytes() const { return buckets_.bytes() + keys_.bytes() + postings_.bytes(); }

 private:
  struct Bucket {
    uint32_t count;
    uint32_t data;  // the row when there is one, else where its postings start; room is a power of two
  };
  static uint32_t spread(Value value) {
    const uint64_t x = value * 0x9e3779b97f4a7c15u;
    return static_cast<uint32_t>(x >> 32);
  }
  const Bucket* bucket_of(Value value) const {
    if (dense_) return value < buckets_.size() ? &buckets_[value] : nullptr;
    if (mask_ == 0) return nullptr;
    for (uint32_t at = spread(value) & mask_;; at = (at + 1) & mask_) {
      if (keys_[at] == value) return &buckets_[at];
      if (keys_[at] == kNone) return nullptr;
    }
  }
  Bucket& bucket_for(Value value);
  void grow_hash();
  uint32_t take_postings(uint32_t room_log2);

  bool dense_ = false;
  uint32_t mask_ = 0;          // hash form: capacity - 1
  uint32_t used_ = 0;          // values that occur
  GrowArray<Bucket> buckets_;  // by value, or by hash slot
  GrowArray<Value> keys_;      // hash form: the value of a slot; kNone is free
  GrowArray<Row> postings_;
  std::vector<std::vector<uint32_t>> free_;  // by log2 of the room: postings to reuse
};

class Index {
 public:
  static constexpr uint32_t kParts = 4;  // a power of two
  static uint32_t part(Value value) { return value % kParts; }

  // The rows with `value`, ascending; valid until the next add.
  std::span<const Row> find(Value value) const { return parts_[part(value)].find(value / kParts); }
  [[gnu::always_inline]] void prefetch(Value value) const { parts_[part(value)].prefetch(value / kParts); }
  // Rows must come in ascending order. Several threads may add, each to parts of its own.
  void add(Value value, Row row) { parts_[part(value)].add(value / kParts, row); }

  // The number of values that occur.
  uint32_t values() const {
    uint32_t sum = 0;
    for (const IndexPart& part : parts_) sum += part.values();
    return sum;
  }
  // Existed when the iteration began. What was made since then may be used but not preferred: it depends on the order
  // in which threads come to need it.
  bool settled = false;
  // How far in the table this index reaches.
  Row reach = 0;
  // Whether a search used it; several may note it at once. Those that none used are not brought up to date.
  bool used() const { return used_by_search_.load(std::memory_order_relaxed); }
  void set_used(bool used) const {
    if (this->used() != used) used_by_search_.store(used, std::memory_order_relaxed);
  }

  // Before rows are added: the table has `rows`, values lie in [0, range) (0: anywhere).
  void fit(size_t rows, size_t range) {
    for (IndexPart& part : parts_) part.fit(rows / kParts, (range + kParts - 1) / kParts);
  }
  size_t bytes() const {
    size_t sum = 0;
    for (const IndexPart& part : parts_) sum += part.bytes();
    return sum;
  }

 private:
  mutable std::atomic<bool> used_by_search_ = true;
  std::array<IndexPart, kParts> parts_;
};

}  // namespace lumen::egraph
