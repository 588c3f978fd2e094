// The merges of a trace as a forest: the way between two ids is the proof that they are equal.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <functional>
#include <vector>

#include "lumen/egraph/core/egraph.h"
#include "lumen/egraph/core/trace.h"

namespace lumen::egraph {

class ProofForest {
 public:
  // `given_time`: how many rules had fired before the ids were merged outside rules.
  using GivenTime = std::function<uint32_t(SortId sort, Value left, Value right)>;
  ProofForest(const EGraph& graph, GivenTime given_time);

  // The ids from one to the other, both included; empty when nothing connects them.
  std::vector<Value> path(SortId sort, Value from, Value to) const;

  struct Step {
    const Reason* reason;
    bool backwards;  // the merge was asked for as (to, from)
  };
  // The merge between neighbours of a path.
  Step step(SortId sort, Value from, Value to) const;

  // How many rules had fired when the ids became equal; kNone when nothing connects them.
  uint32_t time(SortId sort, Value a, Value b);

 private:
  uint32_t step_time(SortId sort, Value from, Value to);
  std::vector<Value> path_to_root(SortId sort, Value id) const;

  const EGraph& graph_;
  const Trace& trace_;
  GivenTime given_time_;
  boost::unordered_flat_map<uint64_t, uint32_t> times_;  // of steps, by sort and the id whose edge it is
};

}  // namespace lumen::egraph
