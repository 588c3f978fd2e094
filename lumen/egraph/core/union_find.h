// UnionFind: which ids of a sort are one class. The representative of a class is its smallest id, so it does not
// depend on the order of merges. Ids that stopped being representatives are logged for the rebuild.
#pragma once

#include <algorithm>
#include <atomic>
#include <utility>
#include <vector>

#include "lumen/egraph/core/grow_array.h"
#include "lumen/egraph/core/value.h"

namespace lumen::egraph {

class UnionFind {
 public:
  Value add() { return add_many(1); }
  // `count` new ids; the first of them.
  Value add_many(size_t count) {
    parent_.room(count);
    const Value first = static_cast<Value>(parent_.size());
    set_new(first, count);
    add_set(count);
    return first;
  }
  // The same in steps, for several threads: memory for up to `count` ids, they are set, so many of them are added.
  template <class Workers>
  Value room(size_t count, Workers& workers) {
    parent_.room(count);
    parent_.populate(workers);
    return static_cast<Value>(parent_.size());
  }
  void set_new(Value first, size_t count) {
    Value* at = parent_.data() + first;
    for (size_t i = 0; i < count; ++i) at[i] = first + static_cast<Value>(i);
  }
  void add_set(size_t count) {
    parent_.append(count);
    if (parent_.size() > stale_.size() * 64) stale_.resize(std::max(parent_.size() / 64 + 1, stale_.size() * 2), 0);
  }
  // At least `size` ids; for sorts whose values are made elsewhere (containers).
  void grow(size_t size) {
    while (parent_.size() < size) add();
  }
  size_t size() const { return parent_.size(); }

  bool is_root(Value id) const { return (stale_[id / 64] >> (id % 64) & 1) == 0; }
  // By id: whether it is no representative, as bits.
  const uint64_t* stale_bits() const { return stale_.data(); }
  Value find(Value id) {
    if (is_root(id)) return id;
    while (parent_[id] != id) {
      parent_[id] = parent_[parent_[id]];
      id = parent_[id];
    }
    return id;
  }
  Value find(Value id) const {
    if (is_root(id)) return id;
    while (parent_[id] != id) id = parent_[id];
    return id;
  }
  // True when they were two classes.
  bool unite(Value a, Value b) {
    if (a == b) return false;
    a = find(a);
    b = find(b);
    if (a == b) return false;
    if (b < a) std::swap(a, b);
    redirect(b, a);
    return true;
  }
  // The same while other threads do so too; what stops being a representative goes to `log`, for mark_displaced and
  // add_displaced. The classes and their representatives come out the same whatever the order: the larger root goes
  // under the smaller one.
  bool unite_shared(Value a, Value b, GrowArray<Value>& log) {
    if (a == b) return false;
    while (true) {
      a = find_shared(a);
      b = find_shared(b);
      if (a == b) return false;
      if (b < a) std::swap(a, b);
      Value root = b;
      if (std::atomic_ref(parent_[b]).compare_exchange_strong(root, a, std::memory_order_relaxed)) break;
    }
    log.push_back(b);
    return true;
  }
  // By several threads at once, before anyone asks for representatives.
  void mark_displaced(const GrowArray<Value>& log) {
    for (size_t i = 0; i < log.size();) {
      const size_t word = log[i] / 64;
      uint64_t bits = 0;
      for (; i < log.size() && log[i] / 64 == word; ++i) bits |= uint64_t{1} << (log[i] % 64);
      std::atomic_ref(stale_[word]).fetch_or(bits, std::memory_order_relaxed);
    }
  }
  void add_displaced(const GrowArray<Value>& log) {
    std::copy_n(log.data(), log.size(), displaced_.append(log.size()));
  }
  // `id`, a root, is `to` from now on; for containers, whose new contents may have any number.
  void redirect(Value id, Value to) {
    parent_[id] = to;
    stale_[id / 64] |= uint64_t{1} << (id % 64);
    displaced_.push_back(id);
  }

  const GrowArray<Value>& displaced() const { return displaced_; }
  size_t merges() const { return merges_; }
  GrowArray<Value> take_displaced() {
    merges_ += displaced_.size();
    return std::move(displaced_);
  }
  size_t bytes() const { return parent_.bytes() + displaced_.bytes() + stale_.capacity() * sizeof(uint64_t); }

 private:
  Value find_shared(Value id) {
    for (;;) {
      const Value up = std::atomic_ref(parent_[id]).load(std::memory_order_relaxed);
      if (up == id) return id;
      id = up;
    }
  }

  GrowArray<Value> parent_;
  // The same as parent_[id] != id, in bits that stay in the nearest caches.
  std::vector<uint64_t> stale_;
  GrowArray<Value> displaced_;
  size_t merges_ = 0;  // taken off the log so far
};

}  // namespace lumen::egraph
