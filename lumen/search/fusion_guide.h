// Guided fusion: groups that a fusion profile knows are decided by its numbers, and gates keep others apart.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lumen/search/fusion_profile.h"
#include "lumen/search/group.h"
#include "lumen/search/split.h"

namespace lumen::search {

struct FusionGates {
  double margin = 0;                // fused must be faster by this share
  int64_t min_tensor_elements = 0;  // a group whose largest tensor has fewer is not fused
  int64_t min_nodes = 2;            // nor one of fewer ops
  int64_t max_graph_size = 0;       // a kernel has at most so many ops; 0: any number

  bool operator==(const FusionGates&) const = default;
};
// "min_nodes=3,margin=0.05": the gates that are named, over those of `from`.
Expected<FusionGates> parse_gates(std::string_view text, FusionGates from = {});

// What computes a pattern, as it is written and as rules make it: any of these is it.
struct FusionPattern {
  std::string name;
  std::vector<std::shared_ptr<const Graph>> forms;
};

struct FusionGuide {
  FusionGates gates = {};
  std::optional<FusionProfile> profile = {};
  std::vector<FusionPattern> patterns = {};  // of the profile
};

// Whether a group was made one kernel, and by which numbers.
struct FusionDecision {
  std::string what;               // a pattern, or the title of a kernel
  std::string shape = {};         // of a pattern
  double fused = 0, unfused = 0;  // milliseconds; 0 where no numbers were asked for
  std::string source = {};        // "exact", "interpolated", "nearest", "measured", "estimated", "no cut", "gate"
  std::string note = {};          // what else decided
  bool fuse = false;
  std::string where = {};  // the bucket

  // By the times of a fusion profile.
  bool is_by_profile() const { return source == "exact" || source == "interpolated" || source == "nearest"; }
  std::string str() const;
};

// A line for each, the same ones counted.
std::string print_decisions(std::span<const FusionDecision> decisions);

// One for each group that was timed, or estimated, in two parts: by the cut that was best.
std::vector<FusionDecision> decisions_of(std::span<const TriedCut> cuts, bool measured);
// One for each group that no cut was timed of, and why.
std::vector<FusionDecision> decisions_of(std::span<const UncutGroup> whole);

// The shape that a profile has a type under: three dims, of which the first takes all that are more.
FusionShape profiled_shape(std::span<const int64_t> dims);

// Takes groups apart that gates or the profile do not want fused, with `dims` for symbolic ones. Those that the profile
// wants fused are `settled`: nothing is left to measure.
struct Guided {
  std::vector<Group> groups;
  std::vector<Group> settled;
  std::vector<FusionDecision> decisions;
};
Expected<Guided> guide_groups(const Reads& reads, std::vector<Group> groups, const FusionGuide& guide,
                              const DimValues& dims);

// The group that computes what the pattern does, up to shapes, views and constants.
bool is_pattern(const Reads& reads, const Group& group, const Graph& pattern);

}  // namespace lumen::search
