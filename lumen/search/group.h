// Grouping: which nodes of a graph run together as one kernel.
//
// Every op that computes is in exactly one group. Views, constants, iotas, bitcasts and casts to wider dtypes are
// free: whoever reads them computes them, so they are in as many kernels as need them, and in one of their own when
// they are an output (which casts are not free for). What is left to readers (row_sums.h) is free as well.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "lumen/ir/graph.h"

namespace lumen::search {

enum class FusionPolicy : uint8_t {
  never,    // every op is a kernel
  always,   // whatever can be one kernel is one
  profile,  // whatever is faster as one kernel, by measurement
};

using Group = std::vector<NodeId>;  // ops that compute, operands first

// What reads what, with everything free looked through.
class Reads {
 public:
  // Of what computes, `left` is left to whoever reads it: no output of the graph is among it.
  explicit Reads(const Graph& graph, std::span<const NodeId> left = {});

  const Graph& graph() const { return graph_; }
  const std::vector<NodeId>& order() const { return order_; }
  bool computes(NodeId id) const { return computes_[static_cast<size_t>(id)]; }
  size_t position(NodeId id) const { return position_[static_cast<size_t>(id)]; }  // in order()
  // The computing nodes that a node reads, the latest first.
  const std::vector<NodeId>& sources_of(NodeId id) const { return sources_[static_cast<size_t>(id)]; }
  // What computes with it, and whether an output needs it.
  const std::vector<NodeId>& readers_of(NodeId id) const { return readers_[static_cast<size_t>(id)]; }
  bool is_result(NodeId id) const { return is_result_[static_cast<size_t>(id)]; }
  const std::vector<NodeId>& left() const { return left_; }

  void sort(Group& group) const;
  // Those of a group that others, or the graph's outputs, need.
  std::vector<NodeId> results_of(const Group& group) const;
  // The group and what is free that it reads.
  std::vector<NodeId> with_free(const Group& group) const;
  // For carve_all: the groups, and a part for each output that is free.
  std::vector<std::vector<NodeId>> parts_of(std::span<const Group> groups) const;

 private:
  const Graph& graph_;
  std::vector<NodeId> left_;
  std::vector<NodeId> order_;
  std::vector<size_t> position_;              // by node
  std::vector<bool> computes_;                // by node
  std::vector<bool> is_result_;               // by node: an output, or read by an output that is free
  std::vector<std::vector<NodeId>> sources_;  // by node
  std::vector<std::vector<NodeId>> readers_;  // by node: what computes with it
};

// Whether a group can be one kernel.
using Accepts = std::function<bool(const Group& group)>;

// From every op on its own, merges groups that feed each other as long as `accepts` takes the union and no group comes
// to need itself; then two groups with contractions and all between them, where no two of these can be merged. Loops
// that differ in their result only are one group from the start.
std::vector<Group> group(const Reads& reads, const Accepts& accepts);

}  // namespace lumen::search
