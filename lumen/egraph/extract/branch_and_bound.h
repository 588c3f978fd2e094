// The cheapest selection of a small graph, by trying what bounds do not rule out.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lumen/egraph/extract/selection.h"

namespace lumen::egraph {

// On a reduced graph (reduce()).
class BranchAndBound {
 public:
  BranchAndBound(const FlatGraph& graph, std::span<const ClassId> roots, uint64_t steps);

  // The best selection, `incumbent` being one that is known; optimal unless the steps did not suffice.
  Selection run(Selection incumbent);

 private:
  void drop_dominated();
  void compute_shares();
  void branch();
  void take(ClassId c, NodeId n);
  void take_back(ClassId c, NodeId n);
  Cost bound() const;
  ClassId pick() const;
  std::vector<NodeId> alternatives(ClassId c);
  bool reaches(ClassId from, ClassId to);
  bool settled(ClassId c);

  const FlatGraph& graph_;
  std::vector<ClassId> roots_;
  uint64_t steps_left_;
  bool complete_ = true;

  std::vector<std::vector<NodeId>> options_;  // by class, without dominated nodes
  std::vector<Cost> least_;                   // by class: its cheapest node
  // By class: in every selection, the nodes chosen in a set of classes cost at least the sum of their worths, less for
  // every use of a class its share.
  std::vector<Cost> worth_;
  std::vector<Cost> share_;
  std::vector<uint32_t> users_;  // by class: classes that could use it, and 1 for a root

  std::vector<NodeId> choice_;
  std::vector<uint32_t> refs_;   // uses by decided classes and roots
  std::vector<ClassId> needed_;  // in the order they became so; decided or not
  Cost paid_ = 0;
  std::vector<uint32_t> seen_;
  uint32_t stamp_ = 0;
  std::vector<ClassId> stack_;
  Selection best_;
};

}  // namespace lumen::egraph
