// Splitting: groups that are faster as two kernels than as one.
#pragma once

#include <span>
#include <string>
#include <utility>
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

// Where a group computes something more often than needed (an operand of a contraction, what is repeated by a view), or
// goes on after a reduction, it may be cut there: the values are stored once. Cuts that the tuner finds faster are
// made. Groups among `settled` stay as they are.
struct Tries {
  std::vector<TriedCut> cuts;
  // What each group that is one kernel without a cut being timed computes, and whether there was a place to cut that an
  // estimate spoke against.
  std::vector<std::pair<std::string, bool>> whole;
};
Expected<Tries> split_slow_groups(const Reads& reads, Tuner& tuner, std::vector<Group>& groups,
                                  std::span<const Group> settled = {});

}  // namespace lumen::search
