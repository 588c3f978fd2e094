#include "lumen/search/rewrite.h"

#include <algorithm>

namespace lumen {

namespace {

// The machine, and what it would be if one thing were dearer or cheaper.
std::vector<Machine> machines_like(const Machine& machine) {
  constexpr double kMuch = 8;
  std::vector<Machine> all(6, machine);
  all[1].elements /= kMuch;  // maps that are stored
  all[2].elements *= kMuch;  // maps that are fused
  all[3].launch *= kMuch;
  all[4].products /= kMuch;
  all[5].bytes /= kMuch;
  return all;
}

}  // namespace

Expected<Rewritten> rewrite(const Graph& graph, const RewriteOptions& options) {
  Saturated saturated = LUMEN_TRY(saturate(graph, options.saturate));
  Rewritten result;
  const OpCost judge = roofline(options.machine, options.dims);
  for (const Machine& machine : machines_like(options.machine)) {
    if (result.candidates.size() >= options.candidates) break;
    // The first is the one that counts.
    const ExtractEffort effort = result.candidates.empty() ? ExtractEffort{} : ExtractEffort{400'000, 1'000};
    Candidate found = std::move(LUMEN_TRY(extract_best(saturated, 1, roofline(machine, options.dims), effort)).front());
    const auto is_known = [&](const Candidate& candidate) { return candidate.graph->equals(*found.graph); };
    if (std::any_of(result.candidates.begin(), result.candidates.end(), is_known)) continue;
    found.cost = cost_of(*found.graph, judge);
    result.candidates.push_back(std::move(found));
  }
  std::stable_sort(result.candidates.begin(), result.candidates.end(),
                   [](const Candidate& a, const Candidate& b) { return a.cost < b.cost; });
  if (options.classes) result.classes = LUMEN_TRY(record_classes(saturated, result.candidates, judge));
  result.report = saturated.report();
  return result;
}

}  // namespace lumen
