// Splitting: groups that are faster as two kernels than as one.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "lumen/search/group.h"
#include "lumen/search/tune.h"

namespace lumen::search {

// A group that was timed in two parts.
struct TriedCut {
  std::string whole, before, after;  // what they compute
  double one = 0, two = 0;           // seconds as one kernel, as two
  bool possible = true;              // a kernel computes each of the two
  bool taken = false;
  bool undone = false;  // it was, and the whole program was slower for the cuts
};

// A group that is one kernel without a cut being timed.
struct UncutGroup {
  std::string what;       // it computes
  bool hopeless = false;  // there was a place to cut, and an estimate spoke against it
};

// Where a group computes something more often than needed (an operand of a contraction, what is repeated by a view), or
// goes on after a reduction, it may be cut there: the values are stored once. Cuts that the tuner finds faster are
// made. Groups among `settled` stay as they are.
struct Tries {
  std::vector<TriedCut> cuts;
  std::vector<UncutGroup> whole;
};
Expected<Tries> split_slow_groups(const Reads& reads, Tuner& tuner, std::vector<Group>& groups,
                                  std::span<const Group> settled = {});

}  // namespace lumen::search
