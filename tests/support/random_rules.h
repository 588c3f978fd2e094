// Small random programs for the e-graph engine, and their comparison with the naive one.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "lumen/egraph/core/egraph.h"

namespace lumen::egraph::naive {

// A number in [0, n).
using Draw = std::function<uint64_t(uint64_t n)>;

struct RandomRules {
  struct ActionList {
    uint32_t variables = 0;
    std::vector<Action> actions;
  };
  struct Step {
    ActionList actions;  // first, outside rules
    std::vector<RuleId> rules;
  };
  EGraph declared;       // sorts, tables and rules; no rows
  ActionList constants;  // its variables are the globals of the rules
  std::vector<SortId> global_sorts;
  std::vector<Step> steps;
  // What the rules may do. With both, which rows count as new depends on which id of a class represents it, and the
  // naive engine may differ.
  bool unites = false;
  bool erases = false;

  std::string text() const;
};

RandomRules draw_rules(const Draw& draw);

// Runs the program that `draw_again` gives (the same one every time) on both engines, with one and two threads, with
// and without semi-naive evaluation, and on a copy made on the way. What differed, if anything did.
std::optional<std::string> check_rules(const std::function<RandomRules()>& draw_again);

}  // namespace lumen::egraph::naive
