// The classes that programs were taken from, with what else each holds: for people to look at.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "lumen/search/extract.h"

namespace lumen {

struct TermRecord {
  std::string op;
  std::string fields;  // ":axis 1 …"
  std::vector<egraph::ClassId> operands;
  double cost = 0;       // of the op alone, in seconds
  double total = 0;      // with the cheapest of all it needs, each once
  bool avoided = false;  // a view of a view: taken only where there is nothing else
};

struct ClassRecord {
  egraph::ClassId id = 0;
  std::string type;
  std::vector<TermRecord> terms;  // the cheapest first
  size_t omitted = 0;             // terms beyond the first few
};

struct ClassesRecord {
  std::vector<ClassRecord> classes;      // those in the candidates' programs, by rising id
  std::vector<egraph::ClassId> written;  // by node of the graph that was saturated: its class, kNone for what has none
};

Expected<ClassesRecord> record_classes(Saturated& saturated, std::span<const Candidate> candidates, const OpCost& cost);

}  // namespace lumen
