// Improving a selection by changing the node of one class at a time.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lumen/egraph/extract/selection.h"

namespace lumen::egraph {

// On a reduced graph (reduce()). The selections it goes through are complete and acyclic.
class LocalSearch {
 public:
  LocalSearch(const FlatGraph& graph, std::span<const ClassId> roots, std::vector<NodeId> start, uint64_t steps);

  // Improves until no change of one class, nor one change for the worse followed by improvements, helps.
  Selection run();

 private:
  void load(std::vector<NodeId> choice);
  std::vector<ClassId> needed() const;
  void choose_unneeded();
  bool makes_cycle(ClassId c, NodeId n);
  void acquire(ClassId c);
  void release(ClassId c);
  void change(ClassId c, NodeId n);
  bool try_class(ClassId c);
  void descend(ClassId frozen);
  bool kick();
  bool better(Cost a, Cost b) const { return a < b - 1e-9 * (b < 1 ? b : 1); }

  const FlatGraph& graph_;
  std::vector<ClassId> roots_;
  std::vector<NodeId> choice_;  // also of classes that are not needed, should they become so; never a cycle
  std::vector<uint32_t> refs_;  // how many chosen nodes and roots use a class; 0: not needed
  std::vector<uint32_t> seen_;
  uint32_t stamp_ = 0;
  std::vector<ClassId> stack_;
  Cost total_ = 0;
  uint64_t steps_left_;
};

}  // namespace lumen::egraph
