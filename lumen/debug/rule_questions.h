// What rules did, did not do, and would have done.
#pragma once

#include <string>
#include <vector>

#include "lumen/debug/inspection.h"

namespace lumen::debug {

// What a rule has found equal in the class of a value.
struct WhyRule {
  struct Step {
    std::string before, after;  // terms
  };
  std::vector<Step> steps;  // in the order of their terms; empty: it merged nothing here
  std::string proof;        // from the value as it is written to the last of these, with all terms
  uint64_t matches = 0;     // in the whole graph
  bool fires = false;       // its left side matches here, whether or not that was news
  std::string text;
};
Expected<WhyRule> why(Inspection& inspection, std::string_view rule, NodeId var);

struct WhyNotRule {
  bool fires = false;
  bool is_off = false;
  std::vector<std::string> failed;
  std::string text;
};
Expected<WhyNotRule> why_not(Inspection& inspection, std::string_view rule, NodeId var);

// A built-in rule that was not run, as it is switched off or not among the rules in use, and that fires with them all.
struct AbsentRule {
  std::string name;
  uint64_t matches = 0;
  std::vector<NodeId> vars;  // where it finds something equal
};
Expected<std::vector<AbsentRule>> absent_rules(Inspection& inspection);

}  // namespace lumen::debug
