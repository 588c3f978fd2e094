// What is said of repeated timings, and when one is worse than another.
#pragma once

#include <cstdint>
#include <vector>

namespace lumen {

// Of an even number of values, the mean of the middle two. Not of none.
double median(std::vector<double> values);

struct Summary {
  double median = 0;
  double mad = 0;  // median absolute deviation from the median
  int64_t trials = 0;
};
Summary summarise(const std::vector<double>& values);

enum class Change : uint8_t { none, slower, faster };
// Beyond three deviations (the larger of both) and 2 % of the old median; anything less is noise.
Change change_between(const Summary& before, const Summary& after);

// How many times as long one takes as another, from timings in pairs: what slows the machine for a while slows both of
// a pair, so their ratio says more than the two medians do.
struct PairedRatio {
  double median = 0;
  double error = 0;  // the standard error of the median

  bool is_behind() const;  // more than 2 % slower, be it by chance
  bool loses() const;      // and by more than pairs differ by chance
};
PairedRatio paired_ratio(const std::vector<double>& own, const std::vector<double>& other);

}  // namespace lumen
