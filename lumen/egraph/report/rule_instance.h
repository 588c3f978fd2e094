// A rule as it was applied once: its sides with terms in place of the variables.
#pragma once

#include <optional>
#include <vector>

#include "lumen/egraph/core/egraph.h"
#include "lumen/egraph/core/trace.h"
#include "lumen/egraph/report/proof_forest.h"
#include "lumen/egraph/report/proof_terms.h"

namespace lumen::egraph {

class RuleInstance {
 public:
  RuleInstance(EGraph& graph, ProofTerms& terms, ProofForest& forest, uint32_t firing);

  struct Sides {
    NodeIndex left = 0;
    NodeIndex right = 0;
  };
  // The union of the rule that was asked to merge these ids; its sides are congruent to them.
  std::optional<Sides> merged(SortId sort, Value left, Value right);

 private:
  bool may_be(const Slot& slot, SortId sort, Value id) const;
  uint32_t atom_of(uint32_t variable) const;
  const Action* maker_of(uint32_t variable) const;
  NodeIndex atom(uint32_t atom);
  NodeIndex value(const Slot& slot, SortId sort, Value witness, bool exact);
  NodeIndex made(const Action& action, Value witness, bool exact);
  NodeIndex computed(const Action& action);
  Value nested_id(TableId table, std::span<const NodeIndex> args, SortId sort, Value same_class) const;

  EGraph& graph_;
  ProofTerms& terms_;
  ProofForest& forest_;
  const Trace& trace_;
  const uint32_t firing_;
  const Rule& rule_;
  const Value* rows_;             // by atom: the id its row was made for
  std::vector<NodeIndex> bound_;  // by variable; kNone: not yet
  std::vector<bool> open_;        // by atom: being built, for patterns that contain themselves
};

}  // namespace lumen::egraph
