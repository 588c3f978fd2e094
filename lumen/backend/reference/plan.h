// Plan: a graph with its dims fixed, as a list of values to compute whole, in order. Made once, run many times.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "lumen/backend/reference/tape.h"
#include "lumen/ir/graph.h"

namespace lumen::reference {

class Plan {
 public:
  // The graph must outlive the plan.
  static Expected<Plan> compile(const Graph& graph, const DimValues& dims);
  Expected<std::vector<HostTensor>> run(std::span<const HostTensor* const> inputs);

 private:
  // A reduction: of a tape, or of the level before it.
  struct Level {
    const Node* node;
    DType dtype;  // of its operand
    size_t axis;  // of the tape's domain
  };
  // Computes one node, or every node of a loop that the graph needs.
  struct Step {
    NodeId node;
    std::vector<int64_t> dims;      // of the node
    std::optional<Tape> tape;       // of the node, or of the operand of the first level
    std::vector<Level> levels;      // of a reduction: it and the reductions that only it reads, innermost first
    size_t line_axis = 0;           // the tape is walked in lines along it
    std::vector<NodeId> results;    // the loop's nodes, each another result
    std::unique_ptr<Plan> body;     // the loop's, made at the first iteration
    std::vector<NodeId> reads;      // stored nodes
    std::vector<NodeId> last_uses;  // of them, what can go afterwards
  };
  class NestedFold;

  explicit Plan(const Graph& graph, const DimValues& dims) : graph_(&graph), values_(dims) {}
  std::vector<bool> choose_stored(std::span<const NodeId> order) const;
  Expected<void> add_step(NodeId id, const std::vector<bool>& stored);
  Expected<void> add_levels(Step& step, const std::vector<bool>& stored) const;
  static size_t choose_line_axis(const Step& step);
  void find_last_uses();
  Expected<void> check_inputs(std::span<const HostTensor* const> inputs);
  Expected<void> run_step(Step& step);
  Expected<void> run_map(Step& step, HostTensor& out);
  Expected<void> run_fold(Step& step, HostTensor& out);
  Expected<void> run_loop(Step& step);
  HostTensor& make(NodeId id, std::vector<int64_t> dims);

  const Graph* graph_;
  DimValues values_;  // of the symbolic dims
  std::vector<Step> steps_;
  std::vector<HostTensor> owned_;  // by node
  Values at_;                      // by node: given or owned
};

}  // namespace lumen::reference
