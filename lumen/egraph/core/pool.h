// Pools: where the values of a sort live that do not fit into 32 bits. A pool only grows, and equal contents get the
// same Value, so that comparing bits compares contents; the Values are 0, 1, 2, ... in the order of their first use.
// Reading is thread-safe while nobody interns.
#pragma once

#include <boost/unordered/unordered_flat_set.hpp>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <typeindex>
#include <utility>
#include <vector>

#include "lumen/egraph/core/value.h"

namespace lumen::egraph {

class Pool {
 public:
  virtual ~Pool() = default;
  // As the language writes it; for containers, elements are printed by the caller (container_term in primitive.h).
  virtual std::string print(Value value) const = 0;
  virtual size_t size() const = 0;
  virtual size_t bytes() const = 0;  // without what values keep elsewhere, such as long strings
  // The C++ type of the values; ContainerPool itself for containers.
  virtual std::type_index type() const = 0;
};

// What a pool takes for the same value: ==, except that all NaNs are one, for a value must equal itself.
template <class T>
bool pool_equal(const T& a, const T& b) {
  return a == b;
}
inline bool pool_equal(double a, double b) { return a == b || (a != a && b != b); }

// The interned values of one base sort: f64, String, ..., or a C++ type of the host.
template <class T>
class ValuePool final : public Pool {
 public:
  using Printer = std::function<std::string(const T&)>;
  using Hash = std::function<uint64_t(const T&)>;
  ValuePool(Hash hash, Printer printer)
      : printer_(std::move(printer)), index_(0, KeyHash{this, std::move(hash)}, KeyEqual{this}) {}
  ValuePool(const ValuePool&) = delete;
  ValuePool& operator=(const ValuePool&) = delete;

  Value intern(T value) {
    const auto known = index_.find(value);
    if (known != index_.end()) return *known;
    values_.push_back(std::move(value));
    const Value fresh = static_cast<Value>(values_.size() - 1);
    index_.insert(fresh);
    return fresh;
  }
  std::optional<Value> find(const T& value) const {
    const auto known = index_.find(value);
    return known == index_.end() ? std::nullopt : std::optional(*known);
  }
  const T& at(Value value) const { return values_[value]; }
  std::string print(Value value) const override { return printer_(at(value)); }
  size_t size() const override { return values_.size(); }
  size_t bytes() const override { return values_.size() * sizeof(T) + index_.bucket_count() * sizeof(Value); }
  std::type_index type() const override { return typeid(T); }

 private:
  // Keys of the index are positions in values_; it is searched by value.
  struct KeyHash {
    using is_transparent = void;
    const ValuePool* pool;
    Hash hash;
    size_t operator()(Value key) const { return hash(pool->values_[key]); }
    size_t operator()(const T& value) const { return hash(value); }
  };
  struct KeyEqual {
    using is_transparent = void;
    const ValuePool* pool;
    bool operator()(Value a, Value b) const { return a == b; }
    bool operator()(const T& a, Value b) const { return pool_equal(a, pool->values_[b]); }
    bool operator()(Value a, const T& b) const { return pool_equal(pool->values_[a], b); }
  };
  static_assert(!std::is_same_v<T, Value>, "wrap the number in a struct of its own");

  std::deque<T> values_;  // addresses stay
  Printer printer_;
  boost::unordered_flat_set<Value, KeyHash, KeyEqual> index_;
};

// The interned sequences of one container sort. What a sequence means is ContainerKind's business (sort.h).
class ContainerPool final : public Pool {
 public:
  ContainerPool();
  ContainerPool(const ContainerPool&) = delete;
  ContainerPool& operator=(const ContainerPool&) = delete;

  // `elements` may lie in this pool.
  Value intern(std::span<const Value> elements);
  std::optional<Value> find(std::span<const Value> elements) const;
  // Valid until the next intern.
  std::span<const Value> at(Value value) const {
    return {elements_.data() + starts_[value], starts_[value + 1] - starts_[value]};
  }
  std::string print(Value value) const override;  // "#12": for debugging
  size_t size() const override { return starts_.size() - 1; }
  size_t bytes() const override;
  std::type_index type() const override { return typeid(ContainerPool); }

 private:
  using Sequence = std::span<const Value>;
  struct KeyHash {
    using is_transparent = void;
    const ContainerPool* pool;
    size_t operator()(Value key) const { return (*this)(pool->at(key)); }
    size_t operator()(Sequence sequence) const;
  };
  struct KeyEqual {
    using is_transparent = void;
    const ContainerPool* pool;
    bool operator()(Value a, Value b) const { return a == b; }
    bool operator()(Sequence a, Value b) const;
    bool operator()(Value a, Sequence b) const { return (*this)(b, a); }
  };
  std::vector<Value> elements_;
  std::vector<size_t> starts_;  // one more than there are sequences
  boost::unordered_flat_set<Value, KeyHash, KeyEqual> index_;
};

}  // namespace lumen::egraph
