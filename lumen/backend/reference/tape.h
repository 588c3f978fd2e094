// Tape: an elementwise expression over leaves, evaluated a run of lanes at a time.
//
// Nothing in it is stored whole: the product of a matrix multiplication, say, exists only a line at a time. Its nodes
// all have the shape of its root, the domain; a domain of rank 0 is walked as one of dims {1}.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "lumen/backend/reference/line_reader.h"
#include "lumen/ir/graph.h"

namespace lumen::reference {

inline constexpr int64_t kRunLanes = 1024;  // the most that one pull() gives

// By node: its whole value where it has been computed.
using Values = std::vector<const HostTensor*>;

class Tape {
 public:
  // The value of `root`, down to leaves and to nodes that are `stored` (root itself is computed unless `from_store`).
  static Expected<Tape> compile(const Graph& graph, NodeId root, bool from_store, const std::vector<bool>& stored,
                                const DimValues& dims);

  // Of the domain.
  const std::vector<int64_t>& dims() const { return dims_; }
  // The stored nodes it reads.
  const std::vector<NodeId>& sources() const { return sources_; }
  // Makes one axis of neighbours that can be walked as one. The axes in `fixed` stay apart and get their new numbers.
  void merge_axes(std::span<size_t> fixed);
  // Rough nanoseconds per element when walked in lines along `axis`.
  double cost_along(size_t axis) const;
  // At most kRunLanes lanes; they stay valid until the next pull.
  Expected<const Lane*> pull(const Line& line, const Values& values);

 private:
  struct Leaf {
    LineReader reader;
    std::optional<NodeId> source;
  };
  // Applies an op to slots. Slots 0 .. leaves-1 are the leaves, the rest are the steps in order.
  struct Step {
    const Node* node;
    std::vector<size_t> operands;
    std::vector<DType> dtypes;
    std::vector<const Lane*> runs;
  };
  struct Compiler;

  std::vector<int64_t> dims_;
  std::vector<Leaf> leaves_;
  std::vector<Step> steps_;
  std::vector<NodeId> sources_;
  size_t root_ = 0;
  std::vector<Lane> buffers_;  // kRunLanes per slot
  std::vector<const Lane*> runs_;
  std::string error_;
};

}  // namespace lumen::reference
