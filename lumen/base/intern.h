// Interner: one immutable object per content, alive until the process ends, so handles compare by address.
//
// Node has a member `hash` (of its content, the same in every process) and operator==. Any thread may call.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <unordered_set>
#include <utility>

namespace lumen {

template <class Node>
class Interner {
 public:
  // The stored equal of `node`.
  const Node* intern(Node node) {
    Shard& shard = shards_[node.hash % kShards];
    const std::lock_guard lock(shard.mutex);
    return &*shard.nodes.insert(std::move(node)).first;  // a node-based set: addresses stay
  }

 private:
  static constexpr size_t kShards = 16;
  struct HashOf {
    size_t operator()(const Node& node) const { return static_cast<size_t>(node.hash / kShards); }
  };
  struct Shard {
    std::mutex mutex;
    std::unordered_set<Node, HashOf> nodes;
  };
  std::array<Shard, kShards> shards_;
};

}  // namespace lumen
