// Why a rule does not fire at a term: the parts of its left side that match there, and the first that does not.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "lumen/base/expected.h"
#include "lumen/egraph/core/egraph.h"

namespace lumen::egraph {

struct WhyNot {
  bool matches = false;                                       // it does fire
  std::vector<std::string> held;                              // atoms and conditions that matched, in order
  std::vector<std::string> failed;                            // those that failed there; the deepest point reached
  std::vector<std::pair<std::string, std::string>> bindings;  // variables at that point
  std::string text() const;
};

// The outermost atom of the rule (a pattern that is part of no other) has to match the class `term`.
Expected<WhyNot> why_not(EGraph& graph, RuleId rule, SortId sort, Value term);

}  // namespace lumen::egraph
