#include "bench/suite/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace lumen::bench {

double Result::compute_share(const Limits& limits) const {
  const double most = unit == Unit::matrix ? limits.matrix_rate(dtype) : limits.f32_flops;
  return flops_per_second() / most;
}

int64_t Comparison::slower() const {
  return std::count_if(rows.begin(), rows.end(), [](const Row& row) { return row.change == Change::slower; });
}

Expected<Comparison> compare_reports(const Report& before, const Report& after) {
  if (before.limits.threads != after.limits.threads) {
    return error(
        fmt::format("the old report is of {} threads, this one of {}: times of different thread counts "
                    "cannot be compared",
                    before.limits.threads, after.limits.threads));
  }
  std::map<std::string, const Result*> old;
  for (const Result& result : before.results) {
    if (result.problem.empty()) old[result.name] = &result;
  }
  Comparison comparison;
  for (const Result& result : after.results) {
    const auto found = old.find(result.name);
    if (!result.problem.empty()) {
      if (found != old.end()) comparison.lost.push_back(result.name);
    } else if (found == old.end()) {
      comparison.only_after.push_back(result.name);
    } else {
      const Summary& then = found->second->time;
      comparison.rows.push_back({result.name, then, result.time, change_between(then, result.time)});
    }
  }
  return comparison;
}

}  // namespace lumen::bench
