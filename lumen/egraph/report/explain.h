// Why two terms are equal, as a chain of terms in which each step is a rule (or an action of the program) applied
// somewhere inside:
//
//   (Mul (Add a b) 2)
//   = (Mul (Add b a) 2)     by add-comm
//   = (Add (Add b a) (Add b a))   by double, from right to left
//
// A step shows the two sides of the rule as it was applied there. What else its left side asked for (facts, equalities
// elsewhere) is not shown. Needs EGraph::enable_tracing() before the first term.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "lumen/base/expected.h"
#include "lumen/egraph/core/egraph.h"

namespace lumen::egraph {

struct ExplainStep {
  std::string term;  // the whole term after the step
  std::string rule;  // name of the rule, "given" for a union of the program, "equal elements" inside containers
  bool backwards = false;
};

struct Explanation {
  std::string start;
  std::vector<ExplainStep> steps;
  std::string text() const;
};

// A term as somebody wrote it: table(args), or a value; an id stands for the term it was made for.
struct WrittenTerm {
  SortId sort = 0;
  TableId table = kNone;  // kNone: `value` is meant
  std::vector<WrittenTerm> args;
  Value value = 0;  // with a table: its traced_id, if it is known
};

// A union outside rules as it was written; the ids are the values of the terms.
struct GivenUnion {
  WrittenTerm left;
  WrittenTerm right;
  uint32_t firings = 0;  // how many rules had fired before it: Trace::firings
};

// From the first term to the second, both as they are written. Unions that are not in `given` are shown with the terms
// that their ids were made for. An error when the terms are not equal, when one of them was never made, or when nothing
// was traced.
Expected<Explanation> explain(EGraph& graph, const WrittenTerm& from, const WrittenTerm& to,
                              std::span<const GivenUnion> given = {});
// The same for ids that EGraph::make returned for new terms.
Expected<Explanation> explain(EGraph& graph, SortId sort, Value from, Value to);

// The id that the term table(args) was made for, in whose name explain() speaks of it.
Value traced_id(EGraph& graph, TableId table, std::span<const Value> args);

}  // namespace lumen::egraph
