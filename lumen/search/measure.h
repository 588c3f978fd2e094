// Measuring: how long kernels take, each alone, on random inputs that stay where they are (warm caches). Floats are
// positive where their roots are taken. Integers are 0 or 1, but an index is any place of the axis that it chooses
// from, and what is compared with the places of an axis (positions with those of a cache) is the last of these places.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "lumen/backend/executable.h"
#include "lumen/ir/graph.h"

namespace lumen::search {

struct Timing {
  double seconds = 0;         // median of the trials; of those that stay to the end, without what slowed all of them
  double spread = 0;          // median absolute deviation of the trials, as they are
  std::vector<double> times;  // of the trials
};

// Kernels that compute the same and compete. The trials of all take turns, so that what disturbs the machine disturbs
// all alike; one that is far behind the best is not tried again.
struct Contest {
  std::vector<Executable*> kernels;
  const Graph* body;
  DimValues dims;
  bool to_the_end = false;  // all are tried as often
  int64_t trials = 9;       // of the ones that stay in the race; fewer of those that take long, unless to_the_end
  // Whether more trials than these, times[competitor][round], would say no more. Otherwise they are doubled, for one
  // second. Who asks after every round finds one in which chance has decided.
  std::function<bool(std::span<const std::vector<double>> times)> is_decided = {};
};

// Medians of the trials of competitors, times[competitor][round], that took turns: each trial counts as long as it
// would have been in a round like the others. How slow a round was is the median, over the competitors, of how much
// longer than usual their trials were in it. Others use the machine, too, for seconds at a time: medians alone compare
// different seconds.
std::vector<double> medians_of_rounds(const std::vector<std::vector<double>>& times);

// One timing for each kernel, or why it does not run.
std::vector<Expected<Timing>> measure(const Contest& contest);

}  // namespace lumen::search
