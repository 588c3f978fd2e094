// A class of the e-graph as people read it.
#pragma once

#include <string>
#include <vector>

#include "lumen/debug/inspection.h"

namespace lumen::debug {

struct Member {
  std::string term;  // "Contract(%0, %1) :left …"
  std::string rule;  // that made it; empty: it is written so
};

struct ClassView {
  std::string name;                   // "%3" or "#17"
  std::vector<std::string> vars;      // all values of the graph that are in it
  std::vector<Member> members;        // terms that are found equal
  std::vector<std::string> children;  // what they read, each with its type
  std::vector<std::string> users;     // terms that read it
  std::vector<std::string> facts;
  std::string text() const;
};

ClassView view_class(Inspection& inspection, egraph::Value tensor);

// All classes with their members, one after the other in the order of the graph, then those that rules made.
std::string print_egraph(Inspection& inspection);

}  // namespace lumen::debug
