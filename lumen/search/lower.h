// Lowering: from a graph to a program of kernels.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lumen/backend/program.h"
#include "lumen/search/fusion_guide.h"
#include "lumen/search/group.h"
#include "lumen/search/split.h"
#include "lumen/search/tune.h"

namespace lumen::search {

struct Lowered {
  Program program;
  double seconds = 0;                      // what its kernels take together, by the tuner
  std::vector<double> kernel_seconds;      // by kernel: of one call
  std::vector<std::vector<NodeId>> nodes;  // by call: of the graph, what it computes
  std::vector<TriedCut> cuts;              // groups that could have been two kernels
  std::vector<FusionDecision> decisions;   // that were taken without timing a cut
  std::vector<Group> groups;               // of program.graph
  std::vector<NodeId> left;                // of program.graph: what is left to readers (row_sums.h)
  std::vector<std::string> names;          // of the program's kernels: stage_text.h
};

// What somebody has decided, in place of the search.
struct Decisions {
  std::optional<std::vector<Group>> groups = {};
  std::vector<NodeId> left = {};                      // to readers, where there are groups
  std::map<std::string, std::string> schedules = {};  // by the name of a kernel; "" interprets it
  std::string file = {};                              // that the schedules are from

  // An error for a schedule of a kernel that is not among these.
  Expected<void> check_known(std::span<const std::string> kernels) const;
};

// Whether some kind of kernel computes a group.
Accepts computed_by_one_kernel(const Reads& reads, const Target& target);

// Every graph has a program: what no kernel kind computes is interpreted. The guide is for FusionPolicy::profile.
Expected<Lowered> lower(std::shared_ptr<const Graph> graph, FusionPolicy policy, Tuner& tuner,
                        const Decisions& decided = {}, const FusionGuide& guide = {});

}  // namespace lumen::search
