// FlatGraph: an e-graph as extraction sees it: classes, the nodes in them, a cost per node. Compressed rows, no heap
// object per node. Made from an EGraph by flatten(), or by hand:
//
//   FlatGraph g;
//   const ClassId x = g.add_class();
//   g.add_node(x, {}, 1);
//   g.finish();
#pragma once

#include <cstdint>
#include <initializer_list>
#include <limits>
#include <span>
#include <vector>

#include "lumen/egraph/core/value.h"

namespace lumen::egraph {

using ClassId = uint32_t;
using NodeId = uint32_t;

// Never negative. Sums of integers stay exact up to 2^53; a sum that would pass kSaturated stays there, so that only
// what cannot be extracted at all costs kInfinite.
using Cost = double;
inline constexpr Cost kInfinite = std::numeric_limits<Cost>::infinity();
inline constexpr Cost kSaturated = 18446744073709551616.0;  // 2^64

inline Cost add_costs(Cost a, Cost b) {
  const Cost sum = a + b;
  return sum <= kSaturated || sum == kInfinite ? sum : kSaturated;
}

struct FlatGraph {
  // By node. Of nodes equally good, extraction takes the earlier one.
  std::vector<ClassId> node_class;
  std::vector<Cost> cost;  // of the node itself, without its children; kInfinite: never chosen
  std::vector<uint32_t> child_start{0};
  std::vector<ClassId> children;

  // By class, made by finish(): the nodes of class c are members[class_start[c] .. class_start[c + 1]), ascending.
  std::vector<uint32_t> class_start;
  std::vector<NodeId> members;

  // What nodes and classes stand for in the e-graph; empty when made by hand. Every value of an extractable term is a
  // class here: e-classes, base values (one leaf node) and containers (one node per value, children its elements).
  struct Origin {
    enum class Kind : uint8_t { row, base, container };
    Kind kind = Kind::row;
    uint32_t owner = 0;  // TableId of a row, SortId of a value
  };
  std::vector<Origin> origin;
  std::vector<SortId> class_sort;
  std::vector<Value> class_value;

  ClassId add_class() { return class_count_++; }
  // A cost that is negative counts as 0, one that is not a number as kInfinite.
  NodeId add_node(ClassId owner, std::span<const ClassId> node_children, Cost node_cost);
  NodeId add_node(ClassId owner, std::initializer_list<ClassId> node_children, Cost node_cost) {
    return add_node(owner, std::span<const ClassId>(node_children.begin(), node_children.size()), node_cost);
  }
  // Call after the last add_node and before extracting.
  void finish();

  size_t classes() const { return class_count_; }
  size_t nodes() const { return cost.size(); }
  std::span<const ClassId> children_of(NodeId node) const {
    return {children.data() + child_start[node], child_start[node + 1] - child_start[node]};
  }
  std::span<const NodeId> nodes_of(ClassId c) const {
    return {members.data() + class_start[c], class_start[c + 1] - class_start[c]};
  }

 private:
  ClassId class_count_ = 0;
};

// Which nodes have a class as a child; each node once per occurrence.
struct Parents {
  explicit Parents(const FlatGraph& graph);
  std::span<const NodeId> of(ClassId c) const { return {nodes_.data() + start_[c], start_[c + 1] - start_[c]}; }

 private:
  std::vector<uint32_t> start_;
  std::vector<NodeId> nodes_;
};

}  // namespace lumen::egraph
