// What the search found on its way, and what lost: for people to look at.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "lumen/search/classes.h"
#include "lumen/search/lower.h"
#include "lumen/search/saturate.h"
#include "lumen/search/tuning_entry.h"

namespace lumen::search {

// One distinct part of a graph.
struct PartRecord {
  std::shared_ptr<const Graph> body;
  std::vector<std::string> inputs;  // names in the graph, by input of the body; empty where it is no input of that
  // By node of the body: places in Graph::order() of the graph of what it stands for, one for each time that it has it.
  std::vector<std::vector<size_t>> origins;
  std::string where;  // the bucket; empty when there is one program for all sizes
  double times = 1;   // that the graph has it
  DimValues dims;     // that kernels were measured at
  SaturateReport rules;
  ClassesRecord classes;                            // none when no rules were run
  std::vector<Candidate> candidates;                // programs that were lowered
  std::vector<double> candidate_seconds;            // of each, by the tuner
  size_t chosen = 0;                                // of the candidates
  Lowered lowered;                                  // what became of that one
  std::vector<std::vector<TuningEntry>> schedules;  // by kernel of it: all that were tried
};

}  // namespace lumen::search
