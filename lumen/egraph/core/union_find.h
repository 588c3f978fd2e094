// UnionFind: which ids of a sort are one class. The representative of a class is its smallest id, so it does not
// depend on the order of merges. Ids that stopped being representatives are logged for the rebuild.
#pragma once

#include <utility>
#include <vector>

#include "lumen/egraph/core/grow_array.h"
#include "lumen/egraph/core/value.h"

namespace lumen::egraph {

class UnionFind {
 public:
  Value add() {
    const Value id = static_cast<Value>(parent_.size());
    parent_.push_back(id);
    return id;
  }
  // `count` new ids; the first of them.
  Value add_many(size_t count) {
    const Value first = static_cast<Value>(parent_.size());
    Value* at = parent_.append(count);
    for (size_t i = 0; i < count; ++i) at[i] = first + static_cast<Value>(i);
    return first;
  }
  // At least `size` ids; for sorts whose values are made elsewhere (containers).
  void grow(size_t size) {
    while (parent_.size() < size) add();
  }
  size_t size() const { return parent_.size(); }

  bool is_root(Value id) const { return parent_[id] == id; }
  Value find(Value id) {
    while (parent_[id] != id) {
      parent_[id] = parent_[parent_[id]];
      id = parent_[id];
    }
    return id;
  }
  Value find(Value id) const {
    while (parent_[id] != id) id = parent_[id];
    return id;
  }
  // Any number: containers may be newer than what is kept of them here.
  void prefetch(Value id) const {
    const auto at = reinterpret_cast<uintptr_t>(parent_.data()) + size_t{id} * sizeof(Value);
    __builtin_prefetch(reinterpret_cast<const void*>(at));
  }

  // True when they were two classes.
  bool unite(Value a, Value b) {
    a = find(a);
    b = find(b);
    if (a == b) return false;
    if (b < a) std::swap(a, b);
    parent_[b] = a;
    displaced_.push_back(b);
    return true;
  }
  // `id`, a root, is `to` from now on; for containers, whose new contents may have any number.
  void redirect(Value id, Value to) {
    parent_[id] = to;
    displaced_.push_back(id);
  }

  std::vector<Value>& displaced() { return displaced_; }
  const std::vector<Value>& displaced() const { return displaced_; }
  size_t merges() const { return merges_; }
  void forget_displaced() {
    merges_ += displaced_.size();
    displaced_.clear();
  }
  size_t bytes() const { return parent_.bytes() + displaced_.capacity() * sizeof(Value); }

 private:
  GrowArray<Value> parent_;
  std::vector<Value> displaced_;
  size_t merges_ = 0;  // taken off the log so far
};

}  // namespace lumen::egraph
