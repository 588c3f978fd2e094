#include "lumen/egraph/core/index.h"

#include <algorithm>
#include <bit>

namespace lumen::egraph {

void IndexPart::add(Value value, Row row) {
  Bucket& bucket = bucket_for(value);
  const uint32_t count = bucket.count++;
  if (count == 0) {
    ++used_;
    bucket.data = row;
    return;
  }
  if (count == 1) {
    const uint32_t at = take_postings(1);
    postings_[at] = bucket.data;
    bucket.data = at;
  } else if ((count & (count - 1)) == 0) {  // a power of two: full (std::has_single_bit calls a library here)
    const uint32_t log2 = static_cast<uint32_t>(std::countr_zero(count));
    const uint32_t at = take_postings(log2 + 1);
    std::copy_n(postings_.data() + bucket.data, count, postings_.data() + at);
    free_[log2].push_back(bucket.data);
    bucket.data = at;
  }
  postings_[bucket.data + count] = row;
}

uint32_t IndexPart::take_postings(uint32_t room_log2) {
  if (free_.size() <= room_log2) free_.resize(room_log2 + 1);
  std::vector<uint32_t>& free = free_[room_log2];
  if (!free.empty()) {
    const uint32_t at = free.back();
    free.pop_back();
    return at;
  }
  const uint32_t at = static_cast<uint32_t>(postings_.size());
  postings_.append(size_t{1} << room_log2);
  return at;
}

IndexPart::Bucket& IndexPart::bucket_for(Value value) {
  if (dense_) {
    if (value >= buckets_.size()) buckets_.resize(value + 1, Bucket{0, 0});
    return buckets_[value];
  }
  if (used_ * 4 >= mask_ * 3) grow_hash();
  uint32_t at = spread(value) & mask_;
  while (keys_[at] != kNone && keys_[at] != value) at = (at + 1) & mask_;
  if (keys_[at] == kNone) {
    keys_[at] = value;
    buckets_[at] = Bucket{0, 0};
  }
  return buckets_[at];
}

void IndexPart::grow_hash() {
  const uint32_t capacity = std::max<uint32_t>(4, (mask_ + 1) * 2);
  GrowArray<Value> keys;
  GrowArray<Bucket> buckets;
  keys.resize(capacity, kNone);
  buckets.resize(capacity);
  const uint32_t mask = capacity - 1;
  for (size_t i = 0; i < keys_.size(); ++i) {
    if (keys_[i] == kNone) continue;
    uint32_t at = spread(keys_[i]) & mask;
    while (keys[at] != kNone) at = (at + 1) & mask;
    keys[at] = keys_[i];
    buckets[at] = buckets_[i];
  }
  keys_ = std::move(keys);
  buckets_ = std::move(buckets);
  mask_ = mask;
}

void IndexPart::fit(size_t rows, size_t range) {
  const bool want_dense = dense_ ? rows * 16 >= range : rows * 4 >= range;
  if (range == 0 || want_dense == dense_) return;
  GrowArray<Value> keys = std::move(keys_);
  GrowArray<Bucket> buckets = std::move(buckets_);
  dense_ = want_dense;
  mask_ = used_ = 0;  // counted again
  if (dense_) buckets_.resize(range, Bucket{0, 0});
  for (size_t i = 0; i < buckets.size(); ++i) {
    const Value value = dense_ ? keys[i] : static_cast<Value>(i);
    if (value == kNone || buckets[i].count == 0) continue;
    bucket_for(value) = buckets[i];
    ++used_;
  }
}

}  // namespace lumen::egraph
