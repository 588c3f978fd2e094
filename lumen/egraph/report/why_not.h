// Why a rule does not fire at a term: the parts of its left side that match there, and the first that does not.
#pragma once

#include <functional>
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
  std::vector<size_t> failed_parts;                           // of the rule's query: its atoms, then its calls
  std::vector<Value> values;                                  // of its variables at that point; kNone: not bound
  std::string text() const;
};

// The first atom of the rule that is part of no other term and whose result has the sort: its position, or kNone.
uint32_t outermost_atom(const EGraph& graph, RuleId rule, SortId sort);

// An outermost pattern of the rule (one that is part of no other) has to match the class `term`: of several that one
// which gets furthest. A rule without such patterns of the sort, which asks for facts alone, is asked about the first
// value of the sort that it names. An error when it names none. Values are written as `text` has them, or without it as
// their smallest terms.
using ValueText = std::function<std::string(SortId sort, Value value)>;
Expected<WhyNot> why_not(EGraph& graph, RuleId rule, SortId sort, Value term, const ValueText& text = {});

}  // namespace lumen::egraph
