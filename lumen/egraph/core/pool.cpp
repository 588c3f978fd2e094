#include "lumen/egraph/core/pool.h"

#include <algorithm>

#include "lumen/base/check.h"
#include "lumen/base/hash.h"

namespace lumen::egraph {

ContainerPool::ContainerPool() : starts_{0}, index_(0, KeyHash{this}, KeyEqual{this}) {}

Value ContainerPool::intern(std::span<const Value> elements) {
  const auto known = index_.find(elements);
  if (known != index_.end()) return *known;
  const Value fresh = static_cast<Value>(size());
  CHECK(fresh != kNone);
  const bool inside = !elements_.empty() && elements.data() >= elements_.data() &&
                      elements.data() < elements_.data() + elements_.size();
  const size_t offset = inside ? static_cast<size_t>(elements.data() - elements_.data()) : 0;
  const size_t end = elements_.size();
  elements_.resize(end + elements.size());
  const Value* from = inside ? elements_.data() + offset : elements.data();
  std::copy_n(from, elements.size(), elements_.data() + end);
  starts_.push_back(elements_.size());
  index_.insert(fresh);
  return fresh;
}

std::optional<Value> ContainerPool::find(std::span<const Value> elements) const {
  const auto known = index_.find(elements);
  return known == index_.end() ? std::nullopt : std::optional(*known);
}

std::string ContainerPool::print(Value value) const { return "#" + std::to_string(value); }

size_t ContainerPool::bytes() const {
  return elements_.capacity() * sizeof(Value) + starts_.capacity() * sizeof(size_t) +
         index_.bucket_count() * sizeof(Value);
}

size_t ContainerPool::KeyHash::operator()(Sequence sequence) const {
  uint64_t state = sequence.size();
  for (const Value value : sequence) state = (state ^ value) * 0x9e3779b97f4a7c15 + (state >> 29);
  return hash_mix(state);
}

bool ContainerPool::KeyEqual::operator()(Sequence a, Value b) const { return std::ranges::equal(a, pool->at(b)); }

}  // namespace lumen::egraph
